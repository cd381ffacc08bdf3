import Foundation
import LinuxSupport
import NIOHTTP1
import NetworkLab
import ServerTrust
import Testing
import TrustForge

@testable import ReachabilityServer
@testable import ReachabilityService

/// Access control, and the identification of clients.
@Suite struct AccessTests {
    private func mayChange(_ peer: WebRequest.Peer, group: UInt32?) throws -> Bool {
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/v1/reload")
        let request = try WebRequest(head, body: [], peer: peer)
        do {
            try AccessRules.checkAdministrator(request) { group }
            return true
        } catch {
            #expect(error.status == .forbidden)
            return false
        }
    }

    @Test func `root, the user of the service and members of the group may make changes`() throws {
        let stranger: UInt32 = 4_000_000
        #expect(try mayChange(.local(user: 0), group: nil))
        #expect(try mayChange(.local(user: geteuid()), group: nil))
        #expect(try mayChange(.local(user: stranger, groups: [7, 990]), group: 990))
        #expect(try !mayChange(.local(user: stranger, groups: [7, 990]), group: nil))
        #expect(try !mayChange(.local(user: stranger, groups: [7]), group: 990))
        #expect(try !mayChange(.local(user: stranger), group: 990))
        #expect(try !mayChange(.local(user: nil, groups: [990]), group: 990))
        #expect(try !mayChange(.loopback, group: 990))
    }

    /// Returns the status of a request over a transport with some header fields; 200 if it is admitted.
    private func status(
        _ peer: WebRequest.Peer,
        _ fields: [(String, String)],
        tokens: [AccessSettings.Token] = [],
        at target: String = "/",
        version: HTTPVersion = .http1_1,
        isPage: Bool = false
    ) throws -> Int {
        let head = HTTPRequestHead(version: version, method: .GET, uri: target, headers: HTTPHeaders(fields))
        let rules = AccessRules(
            hosts: [try HostPattern("box.example.org"), try HostPattern("2001:db8::1")],
            tokens: tokens
        )
        do {
            _ = try rules.admit(try WebRequest(head, body: [], peer: peer), isPage: isPage)
            return 200
        } catch {
            return Int(error.status.code)
        }
    }

    @Test func `the host of an absolute target takes precedence over Host`() throws {
        let rows: [(String, Int)] = [
            ("http://evil.example/v1/status", 421), ("HTTP://evil.example/", 421), ("https://evil.example", 421),
            ("http://evil.example?x", 421), ("http://localhost@evil.example/", 421), ("http:///", 421),
            ("http://localhost.evil.example/", 421),
            ("http://localhost/", 200), ("http://127.0.0.1:9672/v1/status", 200), ("http://[::1]?x", 200),
        ]
        for (target, expected) in rows {
            #expect(try status(.loopback, [("Host", "localhost")], at: target) == expected, "\(target)")
        }
        #expect(try status(.loopback, [("Host", "evil.example")], at: "http://localhost/") == 200)
        let secured = WebRequest.Peer.secured(certificate: "anna")
        #expect(try status(secured, [("Host", "box.example.org")], at: "https://evil.example/") == 421)
        #expect(try status(secured, [("Host", "x")], at: "https://box.example.org/") == 200)
    }

    @Test func `Host is optional only in HTTP/1.0, and two are rejected`() throws {
        for peer in [WebRequest.Peer.loopback, .secured(certificate: "anna")] {
            #expect(try status(peer, [], version: .http1_0) == 200)
            #expect(try status(peer, [("Origin", "http://evil.example")], version: .http1_0) == 403)
            #expect(try status(peer, []) == 400)
        }
        // nginx forwards the requested name, and may use TLS to the browser.
        let name = ("Host", "status.example.net")
        #expect(try status(.loopback, [name], version: .http1_0) == 200)
        #expect(try status(.loopback, [name, ("Origin", "https://status.example.net")], version: .http1_0) == 200)
        #expect(try status(.loopback, [name, ("Origin", "https://evil.example")], version: .http1_0) == 403)
        #expect(try status(.loopback, [name, ("Sec-Fetch-Site", "cross-site")], version: .http1_0) == 403)
        #expect(try status(.loopback, [name], at: "http://evil.example/", version: .http1_0) == 421)
        #expect(try status(.loopback, [name]) == 421)
        #expect(try status(.secured(certificate: "anna"), [name], version: .http1_0) == 421)
        // A proxy that forwards the name with HTTP/1.1 needs a configured name.
        #expect(try status(.loopback, [("Host", "box.example.org")]) == 200)
        for version in [HTTPVersion.http1_0, .http1_1] {
            let twice = [("Host", "localhost"), ("Host", "localhost")]
            #expect(try status(.loopback, twice, version: version) == 400)
        }
    }

    @Test func `pages of other sites may only link to a page`() throws {
        func fields(_ site: String, _ mode: String, _ destination: String) -> [(String, String)] {
            [
                ("Host", "localhost"), ("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode),
                ("Sec-Fetch-Dest", destination),
            ]
        }
        for site in ["cross-site", "same-site", "Cross-Site", "new"] {
            for (mode, destination) in [("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe")] {
                for isPage in [true, false] {
                    let fields = fields(site, mode, destination)
                    #expect(try status(.loopback, fields, isPage: isPage) == 403, "\(fields)")
                }
            }
            #expect(try status(.loopback, fields(site, "navigate", "document"), isPage: true) == 200)
            #expect(try status(.loopback, fields(site, "navigate", "document")) == 403)
        }
        for site in ["same-origin", "none"] {
            #expect(try status(.loopback, fields(site, "cors", "empty")) == 200)
        }
        #expect(try status(.loopback, [("Host", "localhost")]) == 200)
    }

    @Test func `Host must be local on loopback and a name of the service with TLS`() throws {
        let loopback: [(String, Int)] = [
            ("localhost", 200), ("LOCALHOST:9672", 200), ("a.localhost", 200), ("127.0.0.1", 200), ("127.8.8.8:1", 200),
            ("[::1]:9672", 200), ("[::1]", 200), ("box.example.org", 200), ("192.0.2.1", 421), ("localhost:x", 421),
            ("", 421), ("::1", 421), ("[127.0.0.1]", 421),
        ]
        for (host, expected) in loopback { #expect(try status(.loopback, [("Host", host)]) == expected, "\(host)") }
        let secured: [(String, Int)] = [
            ("box.example.org", 200), ("BOX.example.org.:9673", 200), ("[2001:db8:0::1]:9673", 200), ("localhost", 421),
            ("a.box.example.org", 421), ("127.0.0.1", 421), ("", 421),
        ]
        for (host, expected) in secured {
            #expect(try status(.secured(certificate: "anna"), [("Host", host)]) == expected, "\(host)")
        }
        #expect(try status(.local(user: nil), []) == 200)
        let own = ("Host", "box.example.org")
        #expect(try status(.secured(certificate: "anna"), [own, ("Origin", "https://Box.example.org")]) == 200)
        #expect(try status(.secured(certificate: "anna"), [own, ("Origin", "http://box.example.org")]) == 403)
        #expect(try status(.secured(certificate: "anna"), [own, ("Origin", "null")]) == 403)
    }

    @Test func `a token is read from Bearer and Basic credentials`() throws {
        // printf secret | sha256sum
        let hex = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
        let digest = stride(from: 0, to: 64, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
        let tokens = [AccessSettings.Token(name: "x", digest: digest, scope: .read)]
        let rows: [(String, Int)] = [
            ("Bearer secret", 200), ("bearer   secret", 200), ("Basic OnNlY3JldA==", 200), ("basic eDpzZWNyZXQ=", 200),
            ("Bearer", 401), ("Bearer ", 401), ("secret", 401), ("Basic c2VjcmV0", 401), ("Basic ???", 401),
            ("Bearer secret ", 401), ("Digest secret", 401), ("", 401),
        ]
        for (field, expected) in rows {
            let fields = [("Host", "box.example.org"), ("Authorization", field)]
            #expect(try status(.secured(certificate: nil), fields, tokens: tokens) == expected, "\(field)")
        }
        let twice = [
            ("Host", "box.example.org"), ("Authorization", "Bearer secret"), ("Authorization", "Bearer secret"),
        ]
        #expect(try status(.secured(certificate: nil), twice, tokens: tokens) == 401)
        #expect(try status(.secured(certificate: nil), [("Host", "box.example.org")], tokens: tokens) == 401)
    }

    @Test func `the author is the token, the certificate or the user`() throws {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        var request = try WebRequest(head, body: [], peer: .secured(certificate: "anna"))
        #expect(request.author == "anna")
        request.token = AccessSettings.Token(name: "ops", digest: [], scope: .admin)
        #expect(request.author == "ops")
        #expect(try WebRequest(head, body: [], peer: .local(user: 0)).author == "root")
    }

    /// Returns the identity of a client process of another user as the server receives it.
    private func peer(of user: [String]) async throws -> String {
        let directory = "/tmp/access-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        chmod(directory, 0o755)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let server = WebServer { request, done in
            done(WebAnswer(type: "text/plain", Array("\(request.peer)".utf8)))
        }
        try await server.listen(at: directory + "/s", mode: 0o666)
        // Perl is part of each Debian system, and every user may run it.
        let program = #"""
            my $socket = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "$!";
            print $socket "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
            my @lines = <$socket>;
            print $lines[-1];
            """#
        let arguments = user + ["perl", "-MIO::Socket::UNIX", "-e", program, directory + "/s"]
        let result = try await LabThread.detached { try LabProcess("setpriv", arguments).wait() }
        await server.stop()
        #expect(result.status == 0, "\(result.errors)")
        return result.output
    }

    /// A Boolean value that indicates whether the process can run programs as other users. In a user namespace it usually cannot.
    static let mayBecomeOthers =
        geteuid() == 0
        && (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8))?.contains("4294967295") == true

    @Test(.enabled(if: mayBecomeOthers)) func `the kernel reports the user and all groups of a client`() async throws {
        let member = ["--reuid=4242", "--regid=4243", "--groups=990,4300"]
        #expect(try await peer(of: member) == "local(user: Optional(4242), groups: [4243, 990, 4300])")
        let loner = ["--reuid=4242", "--regid=4243", "--clear-groups"]
        #expect(try await peer(of: loner) == "local(user: Optional(4242), groups: [4243])")
        let many = (5000..<6500).map(String.init).joined(separator: ",")
        #expect(
            try await peer(of: ["--reuid=4242", "--regid=990", "--groups=\(many)"])
                == "local(user: Optional(4242), groups: [990])"
        )
    }
}

/// The certificate and the key of a service from the configured files.
@Suite struct ServerIdentityTests {
    private let directory: ScratchDirectory

    init() throws {
        directory = ScratchDirectory()
        try write(TrustWorld.leaf)
    }

    private func write(_ forged: Forged) throws {
        _ = try directory.write("server.pem", [forged])
        try write(key: forged.key)
    }

    private func write(key: ForgeKey, mode: mode_t = 0o600) throws {
        let file = try directory.write("server.key", key)
        #expect(chmod(file, mode) == 0)
    }

    private func identity() throws -> ServerIdentity? {
        let text = """
            schema = 1
            [access]
            certificate = "\(directory.path)/server.pem"
            key = "\(directory.path)/server.key"
            """
        return try ServerIdentity(try ServiceConfiguration(text).access)
    }

    /// Returns the problem of the files, with DIR for the directory; nil if they are accepted.
    private func problem() -> String? {
        do {
            _ = try identity()
            return nil
        } catch let error as ConfigurationProblems {
            return error.problems.map { "\($0.path): \($0.text)".replacing(directory.path, with: "DIR") }.joined()
        } catch {
            return "\(error)"
        }
    }

    @Test func `a certificate and its key are accepted`() throws {
        #expect(problem() == nil)
        #expect(try identity()?.fault(at: .now) == nil)
        let past = TrustWorld.server("past").with(\.begins, World.begins).with(\.ends, TrustWorld.past)
        try write(past.signed(by: TrustWorld.root))
        #expect(try identity()?.fault(at: .now)?.hasPrefix("the certificate expired on ") == true)
    }

    @Test func `a file without a certificate is rejected`() throws {
        _ = try directory.write("server.pem", "")
        #expect(problem() == "access.certificate: cannot use DIR/server.pem: it is empty")
        _ = try directory.write("server.pem", "text")
        let text = "has no readable certificate; it must be in PEM format, with the service's certificate first"
        #expect(problem() == "access.certificate: DIR/server.pem \(text)")
    }

    @Test func `a key that is missing, accessible to others or of another certificate is rejected`() throws {
        try write(key: TrustWorld.leaf.key, mode: 0o644)
        #expect(
            problem()?.hasPrefix("access.key: DIR/server.key is accessible to all users of this machine; ") == true
        )
        try write(key: .p256("another"))
        #expect(problem()?.hasPrefix("access.key: cannot use the key of DIR/server.key") == true, "\(problem() ?? "")")
        try FileManager.default.removeItem(atPath: "\(directory.path)/server.key")
        #expect(problem() == "access.key: cannot read DIR/server.key: No such file or directory")
    }
}
