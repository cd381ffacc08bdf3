import LinuxSupport
import NetworkLab
import ReachabilityService
import ServerTrust
import Testing
import TrustForge
import WebLab

/// The evaluation of the certificate of a webhook's server.
@Suite struct WebhookTrustTests {
    private let scratch: ScratchDirectory
    private static let taken = WebBehaviour.bytes(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8), isClosed: true)

    init() throws { scratch = ScratchDirectory() }

    /// Returns the path of a policy file that trusts only this authority.
    private func policy(_ authority: Forged) throws -> String {
        let path = try scratch.write("authority.pem", [authority])
        let hosts = #"{ "127.0.0.1": { "policy": "default" } }"#
        return try scratch.write("policy.json", #"{ "anchors": ["\#(path)"], "hosts": \#(hosts) }"#)
    }

    @Test(arguments: [true, false])
    func `a private authority is trusted if a policy names it`(isNamed: Bool) async throws {
        let server = try await WebServer(at: ["127.0.0.1"], identity: .good(for: "127.0.0.1"), Self.taken)
        let world = try NotifyingWorld()
        let line = isNamed ? "policy = \"\(try policy(WebAuthority.root))\"\n" : ""
        try world.start(
            "[[notify]]\nname = \"chat\"\nwebhook = \"https://127.0.0.1:\(server.port)/hook\"\nafter = \"0s\"\n\(line)"
        )
        world.setCarrier(false)
        try await waitUntil {
            let status = try world.status()
            return status.delivered > 0 || status.postponed > 0
        }
        #expect(try world.status().delivered == (isNamed ? 1 : 0))
        #expect(server.requests.isEmpty == !isNamed)
        try await world.end(orderly: true)
        await server.close()
    }

    @Test func `nothing is sent to a server with the right name and an untrusted certificate`() async throws {
        let server = try await WebServer(at: ["127.0.0.1"], identity: .otherAuthority(for: "127.0.0.1"), Self.taken)
        let world = try NotifyingWorld()
        try world.start(
            """
            [[notify]]
            name = "pager"
            alertmanager = ["https://127.0.0.1:\(server.port)"]
            policy = "\(try policy(WebAuthority.root))"
            after = "0s"

            """
        )
        world.setCarrier(false)
        try await waitUntil { try world.status().postponed > 0 }
        #expect(server.requests.isEmpty)
        try await world.end(orderly: true)
        await server.close()
    }

    @Test func `an unusable policy changes nothing`() throws {
        let wrong = try scratch.write("wrong.json", "{ \"hosts\": 1 }")
        let text = """
            schema = 1
            [[notify]]
            name = "a"
            webhook = "https://127.0.0.1/"
            policy = "\(wrong)"
            [[notify]]
            name = "b"
            journal = true
            policy = "\(try policy(WebAuthority.root))"
            [heartbeat]
            url = "https://127.0.0.1/"
            policy = "missing.json"
            """
        let problems = #expect(throws: ConfigurationProblems.self) {
            try ServiceConfiguration(text, in: scratch.path + "/")
        }
        let lines = problems?.problems.map { $0.description(in: "f") } ?? []
        #expect(lines.count == 3)
        #expect(lines.first?.hasPrefix("f:5: notify[1].policy: \(wrong):1:") == true)
        #expect(lines.dropFirst().first == "f:9: notify[2].policy: is only allowed with webhook or alertmanager")
        #expect(lines.last?.hasPrefix("f:12: heartbeat.policy: ") == true)
        #expect(lines.last?.contains("\(scratch.path)/missing.json") == true)
    }
}
