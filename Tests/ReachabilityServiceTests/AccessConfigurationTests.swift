import ServerTrust
import Testing

@testable import ReachabilityService

/// Reading the settings of access control.
@Suite struct AccessConfigurationTests {
    private static let digest = String(repeating: "0f", count: 32)

    private func problems(_ text: String) -> [String] {
        do {
            _ = try ServiceConfiguration("schema = 1\n" + text)
            return []
        } catch {
            return error.problems.map { "\($0.line ?? 0) \($0.path): \($0.text)" }
        }
    }

    @Test func `all keys are read`() throws {
        let access = try ServiceConfiguration(
            """
            schema = 1
            [listen]
            https = ["0.0.0.0:9673"]
            [access]
            certificate = "/etc/server.pem"
            key = "key"
            clients = "/etc/clients.pem"
            hosts = ["box.example.org", "**.example.net", "192.0.2.1"]
            tokens = [{ name = "phone", sha256 = "\(Self.digest)" }]
            """
        ).access
        #expect(access.certificate == "/etc/server.pem" && access.key == "key" && access.clients == "/etc/clients.pem")
        #expect(
            access.hosts == [
                try HostPattern("box.example.org"), try HostPattern("**.example.net"), try HostPattern("192.0.2.1"),
            ]
        )
        #expect(access.tokens == [.init(name: "phone", digest: Array(repeating: 15, count: 32), scope: .read)])
        let table = "[[access.tokens]]\nname = \"ops\"\nsha256 = \"\(Self.digest.uppercased())\"\nscope = \"admin\"\n"
        let tokens = try ServiceConfiguration("schema = 1\n\(table)").access.tokens
        #expect(tokens == [.init(name: "ops", digest: Array(repeating: 15, count: 32), scope: .admin)])
    }

    @Test func `problems are reported without the token`() {
        #expect(
            problems("[listen]\nhttps = [\"0.0.0.0:1\"]") == [
                "3 listen.https: requires certificate and key in [access]",
                "3 listen.https: requires tokens or clients in [access]; create a token with `reachability serve token`",
            ]
        )
        #expect(problems("[access]\nkey = \"/k\"") == ["3 access.key: requires certificate"])
        #expect(problems("[access]\nclients = \"/k\"") == ["3 access.clients: requires certificate"])
        #expect(
            problems("[access]\nhosts = [\"*\"]").first?.hasSuffix(
                "must be a host name such as box.example.org, or an address"
            ) == true
        )
        #expect(problems("[access]\ntoken = 1") == ["3 access.token: unknown key; did you mean tokens?"])
        let token = problems("[[access.tokens]]\nname = \"x\"\nsha256 = \"rt_secret\"\nscope = \"all\"")
        #expect(
            token == [
                "4 access.tokens[1].sha256: must be the 64 hexadecimal digits that `reachability serve token` prints",
                "5 access.tokens[1].scope: must be read or admin, not \"all\"",
            ]
        )
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        #expect(
            problems("[[access.tokens]]\nname = \"x\"\nsha256 = \"\(nothing)\"")
                == [
                    "4 access.tokens[1].sha256: is the hash of an empty token; create a token with "
                        + "`reachability serve token`"
                ]
        )
        let twice = "[[access.tokens]]\nname = \"x\"\nsha256 = \"\(Self.digest)\"\n"
        #expect(problems(twice + twice).count == 2)
        #expect(problems("[[access.tokens]]\nsha256 = \"\(Self.digest)\"") == ["2 access.tokens[1].name: missing"])
    }
}
