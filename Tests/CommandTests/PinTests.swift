import Foundation
import NetworkLab
import ServerTrust
import SwiftASN1
import Testing
import TrustForge
import X509

/// `reachability pin`: every line it writes.
@Suite struct PinTests {
    private static let certificates = """
        leaf          CN=example.org,O=Forge
                      issued by CN=Intermediate,O=Forge, expires in 100 days, \(TrustWorld.ends)
                      \(TrustWorld.leaf.pin)
        intermediate  CN=Intermediate,O=Forge
                      issued by CN=Root,O=Forge, expires in 100 days, \(TrustWorld.ends)
                      \(TrustWorld.intermediate.pin)

        """

    @Test func `a server that the system trusts`() async throws {
        let server = try await TLSServer.start()
        let text = """
            127.0.0.1:PORT: 2 certificates, TLS 1.3, trusted by the system
            \(Self.certificates)root          CN=Root,O=Forge, not sent
                          issued by itself, expires in 100 days, \(TrustWorld.ends)
                          \(TrustWorld.root.pin)
            backup        \(TrustWorld.intermediate.pin)
                          the key of CN=Intermediate,O=Forge; better is one of your own that no server uses yet

            """
        #expect(try await server.run("pin 127.0.0.1:PORT") == CommandResult(status: 0, output: text, errors: ""))
        let anchored = try await server.run(
            "pin 127.0.0.1:PORT --anchors root.pem",
            environment: "SSL_CERT_FILE=/dev/null"
        )
        #expect(anchored.output == text.replacing("the system", with: "the anchors in root.pem"))
    }

    @Test func `a server that the system does not trust`() async throws {
        let server = try await TLSServer.start()
        let text = """
            127.0.0.1:PORT: 2 certificates, TLS 1.3, not trusted by the anchors in stranger.pem: the issuer of Intermediate, CN=Root,O=Forge, is neither an anchor nor sent by the server
            \(Self.certificates)backup        none: only what is on a trusted chain can be suggested

            """
        let result = try await server.run("pin 127.0.0.1:PORT --anchors stranger.pem")
        #expect(result == CommandResult(status: 0, output: text, errors: ""))
    }

    @Test func `JSON`() async throws {
        let server = try await TLSServer.start()
        let result = try await server.run("pin --json 127.0.0.1:PORT")
        let text = result.output.replacing(":PORT", with: ":1")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["trusted"] as? Bool == true)
        #expect(object["reason"] is NSNull)
        #expect(object["tlsVersion"] as? String == "1.3")
        #expect(object["host"] as? String == "127.0.0.1")
        #expect(object["backup"] as? String == TrustWorld.intermediate.pin.description)
        let certificates = try #require(object["certificates"] as? [[String: Any]])
        #expect(certificates.map { $0["kind"] as? String } == ["leaf", "intermediate", "root"])
        #expect(certificates.map { $0["sent"] as? Bool } == [true, true, false])
        #expect(certificates.map { $0["onChain"] as? Bool } == [true, true, true])
        #expect(certificates[0]["names"] as? [String] == ["example.org", "xn--bcher-kva.example", "127.0.0.1", "::1"])
        #expect(certificates[0]["pin"] as? String == TrustWorld.leaf.pin.description)
        #expect((certificates[0]["secondsLeft"] as? Int).map { $0 > 100 * 86_400 } == true)
    }

    @Test func `expired, of TLS 1.2`() async throws {
        let leaf = TrustWorld.server("example.org").with(\.ends, TrustWorld.past).with(\.begins, World.begins)
        let server = try await TLSServer.start(leaf.signed(by: TrustWorld.intermediate), options: ["-tls1_2"])
        let result = try await server.run("pin 127.0.0.1:PORT")
        #expect(result.status == 0)
        let verdict = "not trusted by the system: example.org has expired, it was valid until \(TrustWorld.past)"
        #expect(result.lines.first.map(String.init) == "127.0.0.1:PORT: 2 certificates, TLS 1.2, \(verdict)")
        #expect(result.output.contains("issued by CN=Intermediate,O=Forge, expired 5 days ago, \(TrustWorld.past)\n"))
        #expect(result.errors.isEmpty)
    }

    /// A server that only copied the certificate of another: it signs with a key of its own.
    @Test(arguments: ["-tls1_2", "-tls1_3"], ["pin 127.0.0.1:PORT", "trust example.org --connect-to 127.0.0.1:PORT"])
    func `a server without the key of its certificate gets no verdict`(version: String, arguments: String) async throws
    {
        let server = try await TLSServer.start(isKeyless: true, options: [version])
        for option in ["", "--json"] {
            let result = try await server.run("\(arguments) \(option)")
            #expect(result.status == 69)
            #expect(result.output.isEmpty)
            #expect(
                result.errors.hasPrefix(
                    "reachability: 127.0.0.1:PORT shows a certificate, but the TLS handshake failed: bad signature"
                ),
                "\(result.errors)"
            )
        }
    }

    @Test func `a server that refuses us for want of a certificate gets no verdict`() async throws {
        let server = try await TLSServer.start(options: ["-tls1_2", "-Verify", "1", "-verify_return_error"])
        let result = try await server.run("pin 127.0.0.1:PORT")
        #expect(result.status == 69)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("a server of TLS 1.2 that wants a client's certificate ends so too"))
    }

    @Test func `pin and trust share anchors, destination and namespace`() async throws {
        let server = try await TLSServer.start()
        let pinned = try await server.run("pin example.org --connect-to 127.0.0.1:PORT")
        #expect(pinned.lines.first == "example.org:443: 2 certificates, TLS 1.3, trusted by the system")
        for (file, status) in [("root.pem", CInt(0)), ("stranger.pem", 1)] {
            let options = "--connect-to 127.0.0.1:PORT --anchors \(file)"
            #expect(try await server.run("trust example.org \(options)").status == status)
        }
        let namespace = try await NamedNamespace.make()
        defer { namespace.delete() }
        for subcommand in ["pin", "trust"] {
            // The server is here and not there.
            let there = try await server.run("\(subcommand) 127.0.0.1:PORT --netns \(namespace.name)")
            #expect(there.status == 69)
            #expect(there.errors.hasPrefix("reachability: cannot connect to 127.0.0.1:PORT: "))
            let path = "/run/netns/\(namespace.name)"
            #expect(try await server.run("\(subcommand) 127.0.0.1:PORT --netns \(path)").status == 69)
            let here = try await server.run("\(subcommand) 127.0.0.1:PORT --netns \(getpid())")
            #expect(!here.output.isEmpty, "\(here.errors)")
            #expect(try await server.run("\(subcommand) 127.0.0.1:PORT --netns nowhere").status == 64)
            #expect(try await server.run("\(subcommand) 127.0.0.1:PORT --netns a/b").status == 64)
        }
    }

    @Test func `what a stranger wrote into a certificate cannot move the cursor`() async throws {
        let leaf = TrustWorld.server("\u{1b}[31m\n\u{202e}ok").signed(by: TrustWorld.intermediate)
        let server = try await TLSServer.start(leaf)
        let result = try await server.run("pin 127.0.0.1:PORT")
        #expect(result.output.contains("CN=\\1b[31m\\0a\\e2\\80\\aeok,O=Forge\n"))
    }

    @Test func `IPv6`() async throws {
        let server = try await TLSServer.start(address: "[::1]")
        for argument in ["[::1]:PORT", "'[0:0::1]:PORT'"] {
            let result = try await server.run("pin \(argument)")
            #expect(result.lines.first?.hasSuffix("]:PORT: 2 certificates, TLS 1.3, trusted by the system") == true)
        }
    }

    @Test(arguments: [
        ("none.pem", "cannot read the anchors in none.pem: No such file or directory", 66),
        (".", "cannot read the anchors in .: Is a directory", 66),
        ("key.pem", "key.pem \(noCertificate)", 65),
        ("/dev/null", "/dev/null \(noCertificate)", 65),
        ("empty.pem", "empty.pem \(noCertificate)", 65),
        ("garbage.pem", "garbage.pem \(noCertificate)", 65),
        ("garbage.der", "garbage.der \(noCertificate)", 65),
        ("damaged.pem", "damaged.pem \(noCertificate)", 65),
    ])
    func `anchors that are none`(file: String, sentence: String, status: CInt) async throws {
        let server = try await TLSServer.start()
        try server.directory.write("empty.pem", "")
        try server.directory.write("garbage.pem", "\u{1b}[2Jno certificate\n")
        try server.directory.write("garbage.der", "0\u{3}abc")
        try server.directory.write("damaged.pem", PEM.text([Array(TrustWorld.root.der.dropLast(9))]))
        for subcommand in ["pin", "trust"] {
            try await server.run("\(subcommand) --anchors \(file) 127.0.0.1:PORT")
                .expectRefusal(sentence, status: status)
        }
    }

    private static let noCertificate =
        "has no certificate that can be read: --anchors takes certificates in PEM or DER"

    @Test func `names in every string type of X.509 are texts`() async throws {
        let types: [(type: UInt8, bytes: [UInt8], text: String)] = [
            (12, Array("B\u{fc}\u{1b}[2J".utf8), "B\u{fc}\\1b[2J"),
            (20, [0x42, 0xfc, 0x1b, 0x5b, 0x32, 0x4a, 0x9b], "B\u{fc}\\1b[2J\\c2\\9b"),
            (22, Array("Bu\u{7}".utf8), "Bu\\07"),
            (28, [0, 0, 0, 0x42, 0, 0, 0, 0xfc, 0, 1, 0xf6, 0, 0, 0, 0x20, 0x2e], "B\u{fc}\u{1f600}\\e2\\80\\ae"),
            (30, [0, 0x42, 0, 0xfc, 0x20, 0x2e], "B\u{fc}\\e2\\80\\ae"),
        ]
        for (type, bytes, text) in types {
            let value = try ASN1Any(derEncoded: Encoded.node(type, bytes))
            let name = RelativeDistinguishedName.Attribute(type: .RDNAttributeType.commonName, value: value)
            let subject = DistinguishedName([RelativeDistinguishedName([name])])
            let leaf = TrustWorld.server("leaf").with(\.subject, subject).signed(by: TrustWorld.intermediate)
            let server = try await TLSServer.start(leaf)
            let pinned = try await server.run("pin 127.0.0.1:PORT")
            #expect(pinned.lines.dropFirst().first.map(String.init) == "leaf          CN=\(text)")
            // One spelling in the certificate's line and in a reason.
            let past = try await server.run("trust 127.0.0.1:PORT --at 2001-01-01")
            #expect(past.lines.first?.contains("not trusted, \(text) ") == true)
            #expect(past.lines.contains { $0 == "leaf          CN=\(text)" })
        }
    }

    @Test(arguments: [
        "", "https://example.org", "example.org/", "example.org:", "example.org:0", "example.org:65536",
        "example.org:+1",
        "example.org:https", "[::1", "[::1]443", "[192.0.2.1]:443", "[]:1", ":443", "a b", "1.2.3", "a:1:2",
        "*.example.org",
    ])
    func `no server`(text: String) async throws {
        try await Command.run(["pin", "--", text]).expectRefusal(
            "\"\(text)\" is no server: write example.org, 192.0.2.1:8443 or [2001:db8::1]:443, without scheme or path"
        )
    }

    @Test(arguments: ["pin", "trust"])
    func `nobody listens`(subcommand: String) async throws {
        let sentence = "cannot connect to 127.0.0.1:1: Connection refused: is a server running there,"
        try await Command.run([subcommand, "127.0.0.1:1"])
            .expectRefusal("\(sentence) and what does `reachability why 127.0.0.1` say?", status: 69)
    }

    @Test(arguments: ["pin", "trust"])
    func `a name without addresses`(subcommand: String) async throws {
        let sentence = "cannot find an address of nowhere.invalid: the name service knows none: is it written right?"
        try await Command.run([subcommand, "nowhere.invalid"]).expectRefusal(sentence, status: 69)
    }

    @Test func `a server that is silent`() async throws {
        let listener = try ScriptedServer { _ in .silence }
        try await Command.run(["pin", "127.0.0.1:\(listener.port)", "--time-limit", "300ms"]).expectRefusal(
            "waited 300ms for the certificates of 127.0.0.1:\(listener.port): give more time with --time-limit",
            status: 75
        )
    }

    @Test(arguments: [
        ("HTTP/1.1 400 Bad Request\r\n\r\n", "wrong version number"), ("", "it closed the connection"),
        ("\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{28}", "handshake failure on client hello"),
    ])
    func `a server that speaks something else`(answer: String, cause: String) async throws {
        let listener = try ScriptedServer.perConnection { connection in
            _ = connection.receive()
            connection.send(answer)
            connection.stream.halfClose()
            connection.waitForEnd()
        }
        try await Command.run(["pin", "127.0.0.1:\(listener.port)"]).expectRefusal(
            "127.0.0.1:\(listener.port) shows no certificate: \(cause): does it speak TLS 1.2 or later on this port?",
            status: 69
        )
    }

    @Test(arguments: ["pin 127.0.0.1:PORT", "pin --json 127.0.0.1:PORT", "trust 127.0.0.1:PORT"])
    func `a full disk, and a reader that goes away`(arguments: String) async throws {
        let server = try await TLSServer.start()
        try await server.run("\(arguments) > /dev/full")
            .expectRefusal("cannot write to standard output: No space left on device", status: 74)
        let piped = try await server.run("\(arguments) > /dev/null; { $R \(arguments); echo $? >&2; } | true")
        #expect(piped == CommandResult(status: 0, output: "", errors: "0\n"))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `signals end it as they end others`(signal: CInt) async throws {
        let listener = try ScriptedServer { _ in .silence }
        let command = try await RunningCommand.start(["pin", "127.0.0.1:\(listener.port)"])
        #expect(try await eventually(within: .seconds(60)) { listener.connections == 1 })
        command.signal(signal)
        #expect(try await command.result() == CommandResult(status: -signal, output: "", errors: ""))
    }

    @Test(arguments: ["pin", "trust"])
    func `without its other program the command says what is missing`(subcommand: String) async throws {
        let directory = try ScratchDirectory()
        let result = try await Command.run(
            script: "cp $R \(directory.path)/reachability; \(directory.path)/reachability \(subcommand) example.org"
        )
        let path = directory.file("reachability-trust")
        result.expectRefusal(
            "cannot run \(path): No such file or directory: install it beside reachability",
            status: 69
        )
    }
}
