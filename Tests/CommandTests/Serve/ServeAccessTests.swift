import Glibc
import NetworkLab
import SwiftASN1
import TestSupport
import Testing
import TrustForge
import X509

/// Access control over HTTPS, tested with curl.
@Suite(.enabled(if: Tools.has("curl") && Tools.has("openssl"))) struct ServeAccessTests {
    @Test func `a token permits reading, and one with the scope admin permits changes`() async throws {
        let world = try await AccessWorld(clients: false)
        let (reads, changes) = ("/v1/status", "-X POST URL/v1/reload")
        #expect(try await world.status("URL\(reads)") == "401")
        #expect(try await world.status("-H 'Authorization: Bearer rt_none' URL\(reads)") == "401")
        #expect(try await world.status("-H 'Authorization: Bearer \(world.reader)' URL\(reads)") == "200")
        // Browsers send the token as a password.
        #expect(try await world.status("-u anna:\(world.reader) URL/") == "200")
        #expect(try await world.status("-u anna:\(world.reader) \(changes)") == "403")
        #expect(try await world.status("-u anna:\(world.admin) \(changes)") == "200")
        // Programs on this machine read without a token over plain HTTP, and need one for changes.
        #expect(try await world.status("PLAIN\(reads)") == "200")
        #expect(try await world.status("-X POST PLAIN/v1/reload") == "403")
        #expect(try await world.status("-u :\(world.admin) -X POST PLAIN/v1/reload") == "200")
        #expect(try await world.status("-u :rt_none PLAIN\(reads)") == "401")
        // Requests to an address are accepted, those with a foreign host name or origin are refused.
        #expect(try await world.status("-u :\(world.reader) https://127.0.0.1:PORT\(reads)") == "200")
        #expect(try await world.status("-u :\(world.reader) -H 'Host: evil.example' URL\(reads)") == "421")
        #expect(try await world.status("-u :\(world.admin) -H 'Origin: https://evil.example' \(changes)") == "403")
        let text = try await world.curl("-i URL/v1/status")
        #expect(text.output.contains("WWW-Authenticate: Bearer realm=\"reachability\"\r\n"))
        #expect(text.output.contains("WWW-Authenticate: Basic realm=\"reachability\", charset=\"UTF-8\"\r\n"))
        // A guessing client gets a thousand refusals, and no other client is delayed.
        let many = try await world.curl("-o /dev/null -w '%{http_code}\\n' -u :rt_none 'URL/v1/status?[1-1000]'")
        #expect(Set(many.lines) == ["401"] && many.lines.count == 1000)
        #expect(try await world.status("-u :\(world.reader) URL\(reads)") == "200")
        let configuration = try await world.lab.get("/v1/config")
        #expect(configuration.contains("\"name\":\"phone\"") && !configuration.contains(world.reader))
        #expect(try await world.lab.end() == 0)
    }

    @Test func `a certificate of the authorities permits reading, and another is refused`() async throws {
        let world = try await AccessWorld(clients: true)
        let own = "--cert client.pem --key client.key"
        #expect(try await world.status("URL/v1/status") == "401")
        #expect(try await world.status("\(own) URL/v1/status") == "200")
        #expect(try await world.status("\(own) -X POST URL/v1/reload") == "403")
        #expect(try await world.status("\(own) -u :\(world.admin) -X POST URL/v1/reload") == "200")
        #expect(try await world.status("\(own) -u :rt_none URL/v1/status") == "401")
        let stranger = try await world.curl("--cert stranger.pem --key stranger.key -u :\(world.admin) URL/v1/status")
        #expect(stranger.status != 0 && stranger.output.isEmpty, "\(stranger)")
        // A server certificate is not valid for a client.
        let server = try await world.curl("--cert server.pem --key server.key -u :\(world.admin) URL/v1/status")
        #expect(server.status != 0 && server.output.isEmpty, "\(server)")
        // Clients of other protocols are disconnected.
        let plain = try await world.curl("http://localhost:PORT/v1/status")
        #expect(plain.status != 0 && plain.output.isEmpty, "\(plain)")
        let secured = try await world.curl("https://localhost:\(world.plainPort)/v1/status")
        #expect(secured.status != 0 && secured.output.isEmpty, "\(secured)")
        let old = try await world.curl("--tls-max 1.1 --ciphers DEFAULT@SECLEVEL=0 -u :\(world.reader) URL/v1/status")
        #expect(old.status != 0 && old.output.isEmpty, "\(old)")
        #expect(try await world.status("-u :\(world.reader) URL/v1/status") == "200")
        #expect(try await world.lab.end() == 0)
    }

    @Test func `a reload uses another certificate, and an invalid one changes nothing`() async throws {
        let world = try await AccessWorld(clients: false)
        let stream = try await world.start("-N -u :\(world.reader) URL/v1/stream")
        while try await !stream.line().hasPrefix("event: snapshot") {}
        let before = try await world.shown()
        try world.directory.write(
            "server.key",
            try ForgeKey.p256("another").key.serializeAsPEM().pemString,
            mode: 0o600
        )
        world.lab.command.signal(SIGHUP)
        try await world.lab.command.untilErrors(
            contain: "access.key: cannot use the key of \(world.directory.path)/server.key"
        )
        #expect(try await world.shown() == before)
        #expect(try await world.status("-u :\(world.reader) URL/v1/status") == "200")

        try world.write(TrustWorld.here("renewed").signed(by: TrustWorld.root), as: "server")
        world.lab.command.signal(SIGHUP)
        try await world.lab.command.untilErrors(contain: "serve.toml is applied\n")
        #expect(try await world.shown() != before)
        // No permission was removed, so open connections stay open.
        try await world.lab.uplink.setConnected(false)
        while try await !stream.line().hasPrefix("event: outage") {}

        try world.configure(tokens: [world.adminTable], clients: false)
        // A client that removes its own permission still receives the response.
        #expect(try await world.status("-u :\(world.admin) -X POST URL/v1/reload") == "200")
        _ = try await stream.result()
        #expect(try await world.status("-u :\(world.reader) URL/v1/status") == "401")
        #expect(try await world.status("-u :\(world.admin) URL/v1/status") == "200")
        #expect(try await world.lab.end() == 0)
    }

    @Test func `the service listens at an address that is assigned later`() async throws {
        let world = try await AccessWorld(clients: false, https: "203.0.113.99:9673")
        let request =
            "-u :\(world.reader) -k https://203.0.113.99:9673/v1/status -H 'Host: localhost'"
        #expect(try await world.status(request) != "200")
        let added = "ip address add 203.0.113.99/32 dev lo"
        #expect(try await Command.run(script: added, in: world.lab.uplink.namespace).status == 0)
        #expect(try await world.status(request) == "200")
        #expect(try await world.lab.end() == 0)
    }
}

/// A service that listens with TLS, and the files of its clients.
private final class AccessWorld: Sendable {
    let directory = ScratchDirectory()
    let lab: ServeLab
    /// The tokens.
    let (reader, admin): (String, String)
    /// The table of the admin token in the configuration.
    let adminTable: String
    /// The ports with TLS and without.
    let (port, plainPort): (String, String)
    var file: String { directory.file("serve.toml") }

    init(clients: Bool, https: String = "127.0.0.1:0") async throws {
        var made: [[String]] = []
        for words in [["--name", "phone"], ["--name", "ops", "--scope", "admin"]] {
            made.append(try await Command.run(["serve", "token"] + words).lines.map(String.init))
        }
        (reader, admin) = (made[0][0], made[1][0])
        let tables = made.map { $0.dropFirst().joined(separator: "\n") }
        adminTable = tables[1]
        try directory.write("root.pem", PEM.text([TrustWorld.root.der]), mode: 0o644)
        try Self.write(TrustWorld.here("first").signed(by: TrustWorld.root), as: "server", in: directory)
        let client = TrustWorld.server("anna").with(\.names, []).with(\.purposes, [.clientAuth])
        try Self.write(client.signed(by: TrustWorld.root), as: "client", in: directory)
        try Self.write(client.signed(by: TrustWorld.stranger), as: "stranger", in: directory)
        try Self.configure(tokens: tables, clients: clients, https: https, in: directory)
        let file = directory.file("serve.toml")
        lab = try await ServeLab.start(["--listen", "127.0.0.1:0", "--config", file], in: directory)
        let ports = lab.places.split(whereSeparator: { ":/".contains($0) }).filter { UInt16($0) != nil }.map(
            String.init
        )
        try #require(ports.count == 2, "\(lab.places)")
        (plainPort, port) = (ports[0], ports[1])
    }

    func write(_ forged: Forged, as name: String) throws { try Self.write(forged, as: name, in: directory) }

    private static func write(_ forged: Forged, as name: String, in directory: ScratchDirectory) throws {
        try directory.write("\(name).pem", PEM.text([forged.der]), mode: 0o644)
        let key = try forged.key.key.serializeAsPEM().pemString
        try directory.write("\(name).key", key, mode: 0o600)
        // An existing file may have another mode.
        guard chmod(directory.file("\(name).key"), 0o600) == 0 else { throw LabError.system("chmod") }
    }

    func configure(tokens: [String], clients: Bool, http: String? = nil, https: String = "127.0.0.1:0") throws {
        try Self.configure(tokens: tokens, clients: clients, http: http, https: https, in: directory)
    }

    private static func configure(
        tokens: [String],
        clients: Bool,
        http: String? = nil,
        https: String = "127.0.0.1:0",
        in directory: ScratchDirectory
    ) throws {
        let lines = [
            "schema = 1", "[listen]", http.map { "http = [\"\($0)\"]" } ?? "", "https = [\"\(https)\"]", "[access]",
            "hosts = [\"localhost\"]", "certificate = \"\(directory.file("server.pem"))\"",
            "key = \"\(directory.file("server.key"))\"",
            clients ? "clients = \"\(directory.file("root.pem"))\"" : "",
        ]
        try directory.write("serve.toml", (lines + tokens).joined(separator: "\n") + "\n", mode: 0o644)
    }

    /// Returns the script that runs curl. URL and PLAIN are replaced by the addresses with TLS and without.
    private func script(_ arguments: String) -> String {
        let arguments = arguments.replacing("URL", with: "https://localhost:PORT")
            .replacing("PLAIN", with: "http://localhost:\(plainPort)").replacing("PORT", with: port)
        return "cd \(directory.path); exec curl -sS -m 60 --noproxy '*' --resolve localhost:\(port):127.0.0.1 "
            + "--cacert root.pem \(arguments)"
    }

    func curl(_ arguments: String) async throws -> CommandResult {
        try await Command.run(script: script(arguments), in: lab.uplink.namespace)
    }

    /// Returns the HTTP status of the response.
    func status(_ arguments: String) async throws -> String {
        let result = try await curl("-o /dev/null -w '%{http_code}' \(arguments)")
        return result.status == 0 ? result.output : "\(result)"
    }

    func start(_ arguments: String) async throws -> RunningCommand {
        try await RunningCommand.start(script: script(arguments), in: lab.uplink.namespace)
    }

    /// Returns the certificate that the service shows.
    func shown() async throws -> String {
        let script = "openssl s_client -connect 127.0.0.1:\(port) </dev/null 2>/dev/null | openssl x509"
        return try await Command.run(script: script, in: lab.uplink.namespace).output
    }
}

extension TrustWorld {
    /// A certificate for this machine.
    fileprivate static func here(_ name: String) -> Blueprint {
        server(name).with(\.names, [.dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))])
    }
}
