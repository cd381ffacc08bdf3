import Foundation
import NetworkLab
import ServerTrust
import Testing
import TrustForge

/// `reachability trust`: verdicts, reasons and exit statuses.
@Suite struct TrustTests {
    private static let good = """
        \(PinTests.certificates)root          CN=Root,O=Forge, not sent
                      self-issued, expires in 100 days, \(TrustWorld.ends)
                      \(TrustWorld.root.pin)
        ok      server        127.0.0.1:PORT, TLS 1.3
        ok      chain         to the anchor Root, valid until \(TrustWorld.ends)
        ok      host          the certificate is for example.org

        """

    private static func pins(_ pins: [PublicKeyPin], _ more: String = "") -> String {
        let texts = pins.map { "\"\($0)\"" }.joined(separator: ", ")
        return "{\"hosts\": {\"**.org\": {\"policy\": \"pins\", \"pins\": [\(texts)]\(more)}}}"
    }

    private static let wrong = [TrustWorld.stranger.pin, World.rsaRoot.pin]
    private static let mismatch =
        "none of the pins is on the chain, whose pins are \(TrustWorld.leaf.pin), \(TrustWorld.intermediate.pin),"
        + " \(TrustWorld.root.pin)"

    @Test func `a matching pin is trusted`() async throws {
        let server = try await TLSServer.start()
        let result = try await server.trust(Self.pins([TrustWorld.leaf.pin, TrustWorld.stranger.pin]))
        let text = """
            example.org:443: trusted
            \(Self.good)ok      policy        **.org in policy.json
            ok      pins          one of the pins (2) is on the chain

            """
        #expect(result == CommandResult(status: 0, output: text, errors: ""))
    }

    @Test func `pins that do not match are not trusted`() async throws {
        let server = try await TLSServer.start()
        let result = try await server.trust(Self.pins(Self.wrong))
        let text = """
            example.org:443: not trusted, \(Self.mismatch)
            \(Self.good)ok      policy        **.org in policy.json
            failed  pins          \(Self.mismatch)

            """
        #expect(result == CommandResult(status: 1, output: text, errors: ""))
        let json = try await server.trust(Self.pins(Self.wrong), options: "--json")
        #expect(json.status == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(object["schema"] as? Int == 1 && object["trusted"] as? Bool == false)
        #expect(object["reason"] as? String == "pinMismatch" && object["text"] as? String == Self.mismatch)
        #expect(object["policy"] as? String == "**.org")
        #expect(object["host"] as? String == "example.org" && object["port"] as? Int == 443)
        #expect((object["certificates"] as? [[String: Any]])?.count == 3)
        let checks = try #require(object["checks"] as? [[String: String]])
        #expect(checks.map { $0["check"] } == ["server", "chain", "host", "policy", "pins"])
        #expect(checks.map { $0["state"] } == ["ok", "ok", "ok", "ok", "failed"])
    }

    @Test func `an unreadable or invalid policy file is refused`() async throws {
        let server = try await TLSServer.start()
        try await server.run("trust example.org --policy none.json")
            .expectRefusal("cannot read the policy file none.json: No such file or directory", status: 66)
        try await server.run("trust example.org --at tomorrow").expectRefusal(
            "\"tomorrow\" is not a time; write 2027-11-01 or 2027-11-01T12:00:00Z, in UTC"
        )
        // Control characters in the file are escaped.
        try await server.trust("{\"hosts\": {\"\u{1b}[2J\": 1}}")
            .expectRefusal("policy.json:1:13: a string may not contain a control character; escape it", status: 65)
    }
}

/// `reachability pin`: all lines of its output.
@Suite struct PinTests {
    fileprivate static let certificates = """
        leaf          CN=example.org,O=Forge
                      issued by CN=Intermediate,O=Forge, expires in 100 days, \(TrustWorld.ends)
                      \(TrustWorld.leaf.pin)
        intermediate  CN=Intermediate,O=Forge
                      issued by CN=Root,O=Forge, expires in 100 days, \(TrustWorld.ends)
                      \(TrustWorld.intermediate.pin)

        """

    @Test func `the pins and a backup of a trusted server are printed`() async throws {
        let server = try await TLSServer.start()
        let text = """
            127.0.0.1:PORT: 2 certificates, TLS 1.3, trusted by the system
            \(Self.certificates)root          CN=Root,O=Forge, not sent
                          self-issued, expires in 100 days, \(TrustWorld.ends)
                          \(TrustWorld.root.pin)
            backup        \(TrustWorld.intermediate.pin)
                          the key of CN=Intermediate,O=Forge; better: an unused key of your own

            """
        #expect(try await server.run("pin 127.0.0.1:PORT") == CommandResult(status: 0, output: text, errors: ""))
        let anchored = try await server.run(
            "pin 127.0.0.1:PORT --anchors root.pem",
            environment: "SSL_CERT_FILE=/dev/null"
        )
        #expect(anchored.output == text.replacing("the system", with: "the anchors in root.pem"))
    }

    @Test func `a server that requires a client certificate gets no verdict`() async throws {
        let server = try await TLSServer.start(options: ["-tls1_2", "-Verify", "1", "-verify_return_error"])
        let result = try await server.run("pin 127.0.0.1:PORT")
        #expect(result.status == 69)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("a TLS 1.2 server that requires a client certificate fails like this"))
    }

    @Test func `pin and trust share anchors, destination and namespace`() async throws {
        let server = try await TLSServer.start()
        let pinned = try await server.run("pin example.org --connect-to 127.0.0.1:PORT")
        #expect(pinned.lines.first == "example.org:443: 2 certificates, TLS 1.3, trusted by the system")
        for (file, status) in [("root.pem", CInt(0)), ("stranger.pem", 1)] {
            let options = "--connect-to 127.0.0.1:PORT --anchors \(file)"
            #expect(try await server.run("trust example.org \(options)").status == status)
        }
        for subcommand in ["pin", "trust"] {
            try await server.run("\(subcommand) --anchors none.pem 127.0.0.1:PORT")
                .expectRefusal("cannot read the anchors in none.pem: No such file or directory", status: 66)
            try await server.run("\(subcommand) --anchors key.pem 127.0.0.1:PORT").expectRefusal(
                "cannot use key.pem: it has no readable certificate; --anchors takes certificates in PEM or DER",
                status: 65
            )
        }
        let namespace = try await NamedNamespace.make()
        defer { namespace.delete() }
        for subcommand in ["pin", "trust"] {
            // The server is in this namespace and not in the other.
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

    @Test(arguments: ["pin", "trust"])
    func `a server that is absent, silent or without TLS is reported`(subcommand: String) async throws {
        let sentence = "cannot connect to 127.0.0.1:1: Connection refused; check whether a server is running,"
        try await Command.run([subcommand, "127.0.0.1:1"])
            .expectRefusal("\(sentence) and try `reachability why 127.0.0.1`", status: 69)
        let unknown = "cannot resolve nowhere.invalid: there is no address for the name; check its spelling"
        try await Command.run([subcommand, "nowhere.invalid"]).expectRefusal(unknown, status: 69)
        let mute = try ScriptedServer { _ in .silence }
        let silent = "127.0.0.1:\(mute.port)"
        let awaited = subcommand == "pin" ? "the certificates of \(silent)" : "the evaluation of \(silent)"
        try await Command.run([subcommand, silent, "--time-limit", "300ms"])
            .expectRefusal("timeout after 300ms while waiting for \(awaited); allow more with --time-limit", status: 75)
        let listener = try ScriptedServer.perConnection { connection in
            _ = connection.receive()
            connection.send("HTTP/1.1 400 No\r\n\r\n")
            connection.stream.halfClose()
            connection.waitForEnd()
        }
        let place = "127.0.0.1:\(listener.port)"
        try await Command.run([subcommand, place]).expectRefusal(
            "cannot get a certificate from \(place): wrong version number; the port must accept TLS 1.2 or later",
            status: 69
        )
    }

    @Test(arguments: ["pin 127.0.0.1:PORT", "pin --json 127.0.0.1:PORT", "trust 127.0.0.1:PORT"])
    func `a full disk is an error, and a reader that leaves is not`(arguments: String) async throws {
        let server = try await TLSServer.start()
        try await server.run("\(arguments) > /dev/full")
            .expectRefusal("cannot write to standard output: No space left on device", status: 74)
        let piped = try await server.run("\(arguments) > /dev/null; { $R \(arguments); echo $? >&2; } | true")
        #expect(piped == CommandResult(status: 0, output: "", errors: "0\n"))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends the command as by default`(signal: CInt) async throws {
        let listener = try ScriptedServer { _ in .silence }
        let command = try await RunningCommand.start(["pin", "127.0.0.1:\(listener.port)"])
        try await waitUntil { listener.connections == 1 }
        #expect(try await command.result(after: signal) == CommandResult(status: -signal, output: "", errors: ""))
    }
}
