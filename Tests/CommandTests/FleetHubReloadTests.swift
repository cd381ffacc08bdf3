#if Fleet
import BrokerLab
import Foundation
import NetworkLab
import TestSupport
import Testing
import TrustForge
import X509

/// The configuration of a hub, read again while it runs.
@Suite(.enabled(if: LabBroker.exists && Tools.has("curl") && Tools.has("openssl")))
struct FleetHubReloadTests {
    @Test("Tokens and certificates are read again at SIGHUP and when asked to, and a bad file changes nothing")
    func reloads() async throws {
        let lab = try await FleetLab.start()
        let directory = lab.serve.directory
        func token(_ words: [String]) async throws -> (secret: String, table: String) {
            let lines = try await Command.run(["serve", "token"] + words).lines
            return (String(lines[0]), lines.dropFirst().joined(separator: "\n"))
        }
        let (reader, admin) = (
            try await token(["--name", "phone"]), try await token(["--name", "ops", "--scope", "admin"])
        )
        func configure(_ more: String...) throws {
            let access = [
                "schema = 1", "[listen]", "https = [\"127.0.0.1:0\"]", "[access]",
                "certificate = \"\(directory.file("server.pem"))\"", "key = \"\(directory.file("server.key"))\"",
            ]
            try directory.write(
                "hub.toml",
                (access + [reader.table] + more).joined(separator: "\n") + "\n",
                mode: 0o644
            )
        }
        func certify(_ name: String) throws {
            let forged = TrustWorld.server(name).signed(by: TrustWorld.root)
            try directory.write("server.pem", PEM.text([forged.der]), mode: 0o644)
            try directory.write("server.key", try forged.key.key.serializeAsPEM().pemString, mode: 0o600)
        }
        try certify("first")
        try configure()
        let file = directory.file("hub.toml")
        let hub = try await HubLab.start(lab, ["--config", file, "--listen", "127.0.0.1:0"])
        let ports = hub.places.split(whereSeparator: { ":/".contains($0) }).filter { UInt16($0) != nil }
        try #require(ports.count == 2, "\(hub.places)")
        func status(_ request: String) async throws -> String {
            let request = request.replacing("PLAIN", with: "http://127.0.0.1:\(ports[0])")
                .replacing("URL", with: "https://127.0.0.1:\(ports[1])")
            let script = "exec curl -skS -m 60 --noproxy '*' -o /dev/null -w '%{http_code}' \(request)"
            return try await Command.run(script: script, in: lab.namespace).output
        }
        func shown() async throws -> String {
            let script = "openssl s_client -connect 127.0.0.1:\(ports[1]) </dev/null 2>/dev/null | openssl x509"
            return try await Command.run(script: script, in: lab.namespace).output
        }
        let forget = "-u :\(admin.secret) -X DELETE PLAIN/v1/devices/hq/nobody"
        let read = "-u :\(admin.secret) URL/v1/devices"
        let before = try await shown()
        #expect(try await status(forget) == "401")
        #expect(try await status(read) == "401")
        #expect(try await status("-u :\(reader.secret) URL/v1/devices") == "200")

        try certify("renewed")
        try configure(admin.table)
        hub.command.signal(SIGHUP)
        try await hub.command.untilErrors(contain: "reachability: \(file) is applied\n")
        #expect(try await status(forget) == "404")
        #expect(try await status(read) == "200")
        let renewed = try await shown()
        #expect(renewed != before && renewed.hasPrefix("-----BEGIN CERTIFICATE"))

        try configure(admin.table, "[[target]]\nname = \"x\"")
        hub.command.signal(SIGHUP)
        try await hub.command.untilErrors(contain: "reachability: \(file) is not applied; what was so before goes on\n")
        #expect(await hub.command.errors.contains("target: there is no such key"))
        #expect(try await hub.text("/metrics").contains("reachability_configuration_stale 1\n"))
        #expect(try await hub.text("/metrics").contains("reachability_certificate_end_timestamp_seconds"))
        // A key that does not fit is found out before anything is changed, the new tokens too.
        try configure()
        try directory.write("server.key", try ForgeKey.p256("another").key.serializeAsPEM().pemString, mode: 0o600)
        #expect(try await status("-u :\(admin.secret) -X POST URL/v1/reload") == "422")
        #expect(try await shown() == renewed)
        #expect(try await status(forget) == "404")

        try certify("third")
        let socket = directory.file("hub.sock")
        let reload = try await Command.run(["fleet", "hub", "--reload", "--socket", socket])
        #expect(reload == CommandResult(status: 0, output: "\(file) is applied\n", errors: ""))
        #expect(try await status(forget) == "401")
        #expect(try await status(read) == "401")
        #expect(try await hub.end() == 0)
    }
}
#endif
