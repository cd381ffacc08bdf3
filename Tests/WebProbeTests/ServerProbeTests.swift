import LinuxSupport
import NetworkLab
import NetworkReachability
import ServerTrust
import ServerTrustNIO
import Testing
import TrustForge
import WebLab

@testable import ReachabilityChecks

/// The dialogues that precede TLS in mail protocols.
@Suite struct StartTLSTests {
    /// Returns the steps after the lines of a server.
    private func steps(_ kind: StartTLS, _ lines: [String]) -> [StartTLSDialogue.Step] {
        var dialogue = StartTLSDialogue(kind)
        return lines.map { dialogue.take($0) }
    }

    @Test func `each protocol has its commands`() {
        let smtp = ["220-mail.example", "220 ready", "250-mail.example", "250-starttls", "250 SIZE", "220 go"]
        #expect(steps(.smtp, smtp) == [.wait, .send("EHLO localhost"), .wait, .wait, .send("STARTTLS"), .begin])
        let imap = ["* OK [CAPABILITY IMAP4rev1] ready", "* CAPABILITY IMAP4rev1", "A1 OK begin"]
        #expect(steps(.imap, imap) == [.send("A1 STARTTLS"), .wait, .begin])
        #expect(steps(.pop3, ["+OK ready", "+OK begin"]) == [.send("STLS"), .begin])
    }

    @Test(arguments: [
        (StartTLS.smtp, ["554 no"], ProbeReason.greetingNotExpected), (.smtp, ["SSH-2.0-x"], .greetingNotExpected),
        (.smtp, ["220 a", "250-a", "250 SIZE"], .startTLSRefused), (.smtp, ["220 a", "502 what"], .startTLSRefused),
        (.smtp, ["220 a", "250 STARTTLS", "454 later"], .startTLSRefused), (.imap, ["* BYE"], .greetingNotExpected),
        (.imap, ["* PREAUTH you"], .greetingNotExpected), (.imap, ["* OK", "A1 BAD what"], .startTLSRefused),
        (.pop3, ["-ERR no"], .greetingNotExpected), (.pop3, ["+OK", "-ERR what"], .startTLSRefused),
        (.pop3, [""], .greetingNotExpected),
    ])
    func `a server that does not begin TLS has its reason`(kind: StartTLS, lines: [String], reason: ProbeReason) {
        let steps = steps(kind, lines)
        guard case .fail(let fault)? = steps.last else {
            Issue.record("\(steps)")
            return
        }
        // The line is shown as it was sent.
        #expect(fault.reason == reason && (fault.line == nil || fault.line == lines.last))
    }

    /// A server that answers commands before TLS begins.
    private final class MailCoder: StreamCoder {
        private let tls: TLSCoder
        private let replies: [String: String]
        private let last: String
        private var isPlain = true
        private var pending = ""
        private var output: [UInt8] = []

        /// - Parameter last: The command after which TLS begins.
        init(_ identity: WebIdentity, _ replies: [String: String], last: String) throws {
            (tls, self.replies, self.last) = (try TLSCoder(try identity.context()), replies, last)
        }

        var isReady: Bool { tls.isReady }
        var isClosed: Bool { tls.isClosed }
        var serverName: String? { tls.serverName }
        func encode(_ bytes: [UInt8]) throws { try tls.encode(bytes) }
        func end() { tls.end() }
        func abandon() { tls.abandon() }

        func decode(_ bytes: [UInt8]) throws -> [UInt8] {
            guard isPlain else { return try tls.decode(bytes) }
            pending += String(decoding: bytes, as: UTF8.self)
            guard let command = pending.split(separator: "\r\n").first.map(String.init) else { return [] }
            pending = ""
            output += Array((replies[command] ?? "500 what\r\n").utf8)
            isPlain = command != last
            return []
        }

        func takeOutput() -> [UInt8] {
            defer { output = [] }
            return output + tls.takeOutput()
        }
    }

    /// Starts a mail server and probes it.
    private func probe(
        _ kind: StartTLS,
        _ identity: WebIdentity,
        greeting: String,
        _ replies: [String: String],
        last: String,
        limit: Duration = .seconds(60)
    ) async throws -> ProbeResult {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await LabThread.detached {
            try ScriptedServer.perConnection(
                in: world.namespace,
                coder: { try MailCoder(identity, replies, last: last) },
                script: { connection in
                    connection.stream.send(Array(greeting.utf8))
                    _ = connection.handshake()
                    connection.waitForEnd()
                }
            )
        }
        defer { server.stop() }
        let address = try #require(IPAddress("127.0.0.1"))
        var request = WebRequest(try TrustedHTTPURL("https://\(WebWorld.host):\(server.port)/"), .handshake)
        request.startTLS = kind
        return try await world.prober(to: "127.0.0.1").fetch(.target, request, at: address, limit: limit)
    }

    private static let smtp = ["EHLO localhost": "250-a\r\n250 STARTTLS\r\n", "STARTTLS": "220 go\r\n"]

    @Test(arguments: StartTLS.allCases)
    func `a certificate is verified after the command`(kind: StartTLS) async throws {
        let greetings: [StartTLS: String] = [.smtp: "220-a\r\n220 b\r\n", .imap: "* OK a\r\n", .pop3: "+OK a\r\n"]
        let last: [StartTLS: String] = [.smtp: "STARTTLS", .imap: "A1 STARTTLS", .pop3: "STLS"]
        let replies = Self.smtp.merging(["A1 STARTTLS": "A1 OK go\r\n", "STLS": "+OK go\r\n"]) { one, _ in one }
        let result = try await probe(
            kind,
            .expiring(in: 5, for: WebWorld.host),
            greeting: greetings[kind] ?? "",
            replies,
            last: last[kind] ?? ""
        )
        #expect(result.outcome == .answered && result.isVerified, "\(result)")
        #expect(result.request.kind == .tls && Set(result.phases.keys) == [.connect, .request, .tls])
        // The rest of the fifth day is not a whole day.
        #expect(result.evidence.tls.flatMap(\.daysLeft).map { (4...5).contains($0) } == true)
    }

    @Test func `faults before and after the command have their reasons`() async throws {
        let good = WebIdentity.good(for: WebWorld.host)
        let greeting = "220 a\r\n"
        let expired = try await probe(
            .smtp,
            .expired(for: WebWorld.host),
            greeting: greeting,
            Self.smtp,
            last: "STARTTLS"
        )
        #expect(expired.outcome == .invalid(.expired) && expired.failedPhase == .tls, "\(expired)")
        let plain = try await probe(.smtp, good, greeting: greeting, ["EHLO localhost": "250 SIZE\r\n"], last: "")

        #expect(plain.outcome == .invalid(.startTLSRefused) && plain.failedPhase == .request, "\(plain)")
        #expect(plain.evidence.detail == "it does not offer STARTTLS")
        let silent = try await probe(.imap, good, greeting: "", [:], last: "", limit: .seconds(2))
        #expect(
            silent.outcome == .silent && silent.phases[.connect] != nil && silent.failedPhase == .request,
            "\(silent)"
        )
        let injected = ["EHLO localhost": "250 STARTTLS\r\n", "STARTTLS": "220 go\r\nmore\r\n"]
        let more = try await probe(.smtp, good, greeting: greeting, injected, last: "STARTTLS")
        #expect(more.outcome == .invalid(.greetingNotExpected), "\(more)")
        let endless = try await probe(
            .pop3,
            good,
            greeting: "+OK " + String(repeating: "a", count: 9000),
            [:],
            last: ""
        )
        #expect(endless.outcome == .invalid(.greetingNotExpected), "\(endless)")
    }
}

/// Probes of SSH and time servers.
@Suite struct ServerProbeTests {
    private static let key = "SHA256:l1A5mWGPrwMJqyORDhkPyQoOpByOBoGJk+sW/FRrbNE"

    private func identify(
        expecting keys: Set<String> = [],
        limit: Duration = .seconds(60),
        _ script: @escaping ScriptedServer.Script
    ) async throws -> ProbeResult {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await LabThread.detached {
            try ScriptedServer.perConnection(in: world.namespace, script: script)
        }
        defer { server.stop() }
        let address = try #require(IPAddress("127.0.0.1"))
        return try await world.prober(to: "127.0.0.1")
            .identifySSH(at: address, port: UInt16(server.port), expecting: keys, limit: limit)
    }

    @Test func `an identification is sufficient without expected keys`() async throws {
        let result = try await identify { connection in
            connection.send("SSH-2.0-Lab_1\u{1b} x\r\n")
            connection.waitForEnd()
        }
        #expect(result.outcome == .answered && result.kind == .ssh, "\(result)")
        #expect(result.evidence.ssh == SSHFacts(identification: "SSH-2.0-Lab_1\\u{1b} x"))
        #expect(Set(result.phases.keys) == [.connect, .request] && result.peerAnswered && !result.isVerified)
    }

    @Test func `each fault of an SSH server has its reason`() async throws {
        let cases: [(text: String, keys: Set<String>, outcome: ProbeOutcome)] = [
            ("", [], .invalid(.closedWithoutAnswer)), ("HTTP/1.1 400 Bad Request\r\n", [], .invalid(.notSSH)),
            ("SSH-1.5-old\r\n", [], .invalid(.noCommonAlgorithm)),
            ("SSH-2.0-x\r\n", [Self.key], .invalid(.noCommonAlgorithm)),
            ("SSH-2.0-x\r\n\0\0\0\u{0c}", [Self.key], .invalid(.noCommonAlgorithm)),
            ("SSH-2.0-x\r\nxxxxxxxxxxxxxxxx", [Self.key], .invalid(.notSSH)),
            (String(repeating: "x", count: 20_000), [], .invalid(.notSSH)),
        ]
        for (text, keys, outcome) in cases {
            let result = try await identify(expecting: keys) { connection in
                connection.send(text)
                // Closing before the client's bytes are read would send a reset.
                _ = connection.receive()
            }
            #expect(result.outcome == outcome && result.failedPhase == .request, "\(text.prefix(20)): \(result)")
        }
        let mail = try await identify(limit: .seconds(2)) { connection in
            connection.send("220 mail.example\r\n")
            connection.waitForEnd()
        }
        #expect(mail.outcome == .invalid(.notSSH), "\(mail)")
        let silent = try await identify(limit: .seconds(2)) { $0.waitForEnd() }
        #expect(silent.outcome == .silent && silent.phases[.connect] != nil, "\(silent)")
    }

    private static let server = "/usr/sbin/sshd"

    @Test(
        .enabled(if: Program.isInstalled("test", "-x", server), "there is no sshd"),
        arguments: ["ed25519", "ecdsa", "rsa"]
    )
    func `OpenSSH proves its host key`(type: String) async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let directory = ScratchDirectory()
        let key = directory.path + "/key"
        let text = try await LabThread.detached {
            _ = try LabProcess("mkdir", ["-p", "/run/sshd"]).wait()
            _ = try LabProcess("ssh-keygen", ["-q", "-t", type, "-N", "", "-f", key]).wait()
            return try LabProcess("ssh-keygen", ["-lf", key]).wait().output
        }
        let fingerprint = String(try #require(text.split(separator: " ").dropFirst().first))
        let arguments = ["-D", "-e", "-p", "2222", "-h", key, "-f", "/dev/null", "-o", "UsePAM=no"]
        let (program, _) = try await Program.start(
            "nsenter",
            ["--net=\(world.namespace.path)", Self.server] + arguments,
            in: directory,
            ready: { $0.contains("Server listening on 0.0.0.0") ? true : nil }
        )
        defer { withExtendedLifetime(program) {} }
        let address = try #require(IPAddress("127.0.0.1"))
        let prober = try world.prober(to: "127.0.0.1")
        let own = await prober.identifySSH(at: address, port: 2222, expecting: [fingerprint], limit: .seconds(60))
        #expect(own.outcome == .answered && own.isVerified, "\(own)")
        let other = await prober.identifySSH(at: address, port: 2222, expecting: [Self.key], limit: .seconds(60))
        #expect(other.outcome == .invalid(.hostKeyMismatch) && other.evidence.ssh?.hostKey == fingerprint, "\(other)")
    }

    @Test(arguments: [
        (UInt8(0x24), UInt8(2), "", ProbeOutcome.answered), (0x24, 9, "", .invalid(.stratumTooHigh)),
        (0xe4, 2, "", .invalid(.notSynchronized)), (0x24, 16, "", .invalid(.notSynchronized)),
        (0xe4, 0, "RATE", .invalid(.retryAfter)), (0xe4, 0, "DENY", .invalid(.serverRefused)),
        (0x23, 2, "", .invalid(.mismatchedAnswer)),
    ])
    func `each answer of a time server has its outcome`(
        first: UInt8,
        stratum: UInt8,
        code: String,
        outcome: ProbeOutcome
    ) async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await LabThread.detached {
            try DatagramServer(in: world.namespace) { question in
                // The times are those of the question, which are random, so the offset is not examined.
                let code = Array(code.utf8) + [UInt8](repeating: 0, count: 4 - code.utf8.count)
                var bytes = [first, stratum] + [UInt8](repeating: 0, count: 10)
                bytes += code
                bytes += [UInt8](repeating: 0, count: 8)
                for _ in 0..<3 { bytes += question[40..<48] }
                return bytes
            }
        }
        defer { server.stop() }
        let address = try #require(IPAddress("127.0.0.1"))
        let limit: Duration = outcome == .invalid(.mismatchedAnswer) ? .seconds(2) : .seconds(60)
        let result = try await world.prober(to: "127.0.0.1")
            .queryTime(of: address, port: server.port, stratum: 3, limit: limit)
        #expect(result.outcome == outcome && result.kind == .ntp, "\(result)")
        #expect((result.evidence.ntp?.stratum == stratum) == (outcome != .invalid(.mismatchedAnswer)))
        #expect(result.peerAnswered && (result.failedPhase == nil) == (outcome == .answered))
    }
}
