import Crypto
import CryptoExtras
import LinuxSupport
import NetworkReachability
import ServerTrust

/// Probes of SSH servers. They send no user name and do not authenticate.
extension Prober {
    /// Reads the identification of a server. If host keys are expected, the server must prove in a key exchange that it owns one of them.
    ///
    /// - Parameter keys: The SHA-256 fingerprints of the expected host keys; empty to read the identification only.
    func identifySSH(
        at address: IPAddress,
        port: UInt16,
        expecting keys: Set<String>,
        limit: Duration
    ) async -> ProbeResult {
        let request = request(.ssh, .target, address, port: port, limit: limit)
        let exchange = SSHKeyExchange()
        let needsKey = !keys.isEmpty
        var stream = StreamRequest(
            to: endpoint(address, port: port),
            needsKey ? exchange.bytes : SSHKeyExchange.greeting,
            settings: settings(),
            limit: limit,
            isComplete: { SSHTranscript($0).isComplete(withKey: needsKey) }
        )
        stream.byteLimit = SSHTranscript.byteLimit
        await gate.pass()
        let outcome = await engine.connect(stream)
        var result = result(request, outcome, about: address)
        guard let connected = outcome.connected else { return result }
        result.phases = [.connect: connected]
        let transcript = SSHTranscript(outcome.bytes)
        if let text = transcript.identification {
            result.evidence.ssh = SSHFacts(identification: String(decoding: text, as: UTF8.self).printable)
        }
        switch outcome.end {
        case .answered, .closed, .tooLong: result.outcome = judge(transcript, exchange, keys, &result.evidence)
        // A server of another protocol may wait after its greeting.
        case .silent where !outcome.bytes.isEmpty && transcript.identification == nil:
            result.outcome = .invalid(.notSSH)
        default: break
        }
        if result.outcome == .answered {
            (result.phases[.request], result.failedPhase) = (outcome.duration - connected, nil)
        } else if result.outcome != .cancelled {
            result.failedPhase = .request
        }
        return result
    }

    private func judge(
        _ transcript: SSHTranscript,
        _ exchange: SSHKeyExchange,
        _ keys: Set<String>,
        _ evidence: inout ProbeEvidence
    ) -> ProbeOutcome {
        guard transcript.identification != nil else {
            return .invalid(transcript.isEmpty ? .closedWithoutAnswer : .notSSH)
        }
        guard transcript.supportsVersion2 else { return .invalid(.noCommonAlgorithm) }
        if keys.isEmpty { return .answered }
        guard !transcript.isMalformed else { return .invalid(.notSSH) }
        // A server without a common algorithm sends a message or closes the connection.
        guard let reply = transcript.message(.exchangeReply) else { return .invalid(.noCommonAlgorithm) }
        guard let key = SSHHostKey(reply: reply) else { return .invalid(.notSSH) }
        evidence.ssh?.hostKey = key.fingerprint
        guard keys.contains(key.fingerprint) else {
            evidence.detail = "its host key is \(key.fingerprint)"
            return .invalid(.hostKeyMismatch)
        }
        guard let hash = exchange.hash(transcript, key), key.isProven(by: hash) else {
            return .invalid(.hostKeyUnproven)
        }
        evidence.ssh?.isVerified = true
        return .answered
    }
}

/// The client's part of a key exchange with Curve25519 (RFC 4253, RFC 8731).
///
/// All offered methods use the same messages, so the client sends its whole part before it receives an answer.
struct SSHKeyExchange: Sendable {
    private static let identification = Array("SSH-2.0-reachability".utf8)
    /// The identification of the client as it is sent.
    static let greeting = identification + [0x0d, 0x0a]

    private let key: Curve25519.KeyAgreement.PrivateKey
    private let proposal: [UInt8]

    /// The algorithms in the order of the fields of SSH_MSG_KEXINIT. No encrypted packet is ever sent, but a server that shares no
    /// algorithm refuses the exchange.
    private static let algorithms: [[String]] = {
        let ciphers = [
            "chacha20-poly1305@openssh.com", "aes256-gcm@openssh.com", "aes128-gcm@openssh.com", "aes256-ctr",
            "aes192-ctr",
            "aes128-ctr",
        ]
        let codes = [
            "hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512",
            "hmac-sha1",
        ]
        let compressions = ["none", "zlib@openssh.com"]
        return [
            ["curve25519-sha256", "curve25519-sha256@libssh.org"], SSHHostKey.algorithms, ciphers, ciphers, codes,
            codes,
            compressions, compressions, [], [],
        ]
    }()

    /// - Parameters:
    ///   - key: The private key, which must not be used twice.
    ///   - cookie: 16 random bytes.
    init(
        key: Curve25519.KeyAgreement.PrivateKey = .init(),
        cookie: [UInt8] = (0..<16).map { _ in .random(in: .min ... .max) }
    ) {
        self.key = key
        var bytes = [SSHTranscript.Message.proposal.rawValue] + cookie
        for names in Self.algorithms { bytes.append(ssh: Array(names.joined(separator: ",").utf8)) }
        // No guessed packet follows. The last four bytes are reserved.
        proposal = bytes + [0, 0, 0, 0, 0]
    }

    /// The identification, the proposal and the public key.
    var bytes: [UInt8] {
        var offer: [UInt8] = [SSHTranscript.Message.exchangeInit.rawValue]
        offer.append(ssh: Array(key.publicKey.rawRepresentation))
        return Self.greeting + Self.packet(proposal) + Self.packet(offer)
    }

    /// Returns a packet without encryption, in units of eight bytes (RFC 4253, section 6).
    private static func packet(_ payload: [UInt8]) -> [UInt8] {
        let padding = 4 + (8 - (payload.count + 9) % 8) % 8
        var packet: [UInt8] = []
        packet.append(longWord: payload.count + padding + 1)
        return packet + [UInt8(padding)] + payload + [UInt8](repeating: 0, count: padding)
    }

    /// Returns the hash that the server must sign (RFC 8731, section 3). Nil if the messages of the server are invalid.
    func hash(_ transcript: SSHTranscript, _ hostKey: SSHHostKey) -> [UInt8]? {
        guard let identification = transcript.identification, let other = transcript.message(.proposal),
            let point = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: hostKey.exchangeKey),
            let shared = try? key.sharedSecretFromKeyAgreement(with: point)
        else { return nil }
        // The secret is a number without leading zeros and without a sign bit.
        var secret = unsafe shared.withUnsafeBytes { unsafe Array($0.drop { $0 == 0 }) }
        if secret.first.map({ $0 >= 0x80 }) == true { secret.insert(0, at: 0) }
        var bytes: [UInt8] = []
        for field in [
            Self.identification, identification, proposal, other, hostKey.blob, Array(key.publicKey.rawRepresentation),
            hostKey.exchangeKey, secret,
        ] {
            bytes.append(ssh: field)
        }
        return Array(SHA256.hash(data: bytes))
    }
}

/// A host key with the server's signature in SSH_MSG_KEX_ECDH_REPLY.
struct SSHHostKey: Hashable, Sendable {
    /// The accepted signature algorithms, the preferred one first. Signatures with SHA-1 are not accepted.
    static let algorithms = [
        "ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-512", "rsa-sha2-256",
    ]

    /// The key in the form in which it is hashed and signed.
    let blob: [UInt8]
    /// The public key of the exchange.
    let exchangeKey: [UInt8]
    private let signature: [UInt8]

    /// Parses a payload. Nil if it is malformed.
    init?(reply: [UInt8]) {
        var reader = DNSReader(Array(reply.dropFirst()))
        guard let blob = try? reader.sshString(), let point = try? reader.sshString(),
            let signature = try? reader.sshString()
        else { return nil }
        (self.blob, exchangeKey, self.signature) = (blob, point, signature)
    }

    /// The fingerprint as `ssh-keygen -l` prints it.
    var fingerprint: String {
        let text = Base64.encode(Array(SHA256.hash(data: blob)))
        return "SHA256:" + text.prefix { $0 != "=" }
    }

    /// Returns whether a text has the form of a fingerprint.
    static func isFingerprint(_ text: String) -> Bool {
        text.hasPrefix("SHA256:") && text.utf8.count == 50 && Base64.decode(text.dropFirst(7) + "=")?.count == 32
    }

    /// Returns whether the owner of the key has signed the hash of the exchange.
    func isProven(by hash: [UInt8]) -> Bool {
        var (key, proof) = (DNSReader(blob), DNSReader(signature))
        do {
            let type = String(decoding: try key.sshString(), as: UTF8.self)
            let algorithm = String(decoding: try proof.sshString(), as: UTF8.self)
            let value = try proof.sshString()
            switch (type, algorithm) {
            case ("ssh-ed25519", "ssh-ed25519"):
                let key = try Curve25519.Signing.PublicKey(rawRepresentation: try key.sshString())
                return key.isValidSignature(value, for: hash)
            case ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256"):
                _ = try key.sshString()
                let key = try P256.Signing.PublicKey(x963Representation: try key.sshString())
                // The signature consists of two numbers (RFC 5656, section 3.1.2).
                var numbers = DNSReader(value)
                let digits = [try numbers.sshNumber(32), try numbers.sshNumber(32)].flatMap(\.self)
                return key.isValidSignature(try .init(rawRepresentation: digits), for: hash)
            case ("ssh-rsa", "rsa-sha2-512"), ("ssh-rsa", "rsa-sha2-256"):
                let (exponent, modulus) = (try key.sshString(), try key.sshString())
                // A verification with a large exponent or modulus takes seconds.
                guard exponent.count <= 8, modulus.count <= 2049 else { return false }
                let key = try _RSA.Signing.PublicKey(n: modulus, e: exponent)
                let signature = _RSA.Signing.RSASignature(rawRepresentation: value)
                if algorithm == "rsa-sha2-256" {
                    return key.isValidSignature(signature, for: SHA256.hash(data: hash), padding: .insecurePKCS1v1_5)
                }
                return key.isValidSignature(signature, for: SHA512.hash(data: hash), padding: .insecurePKCS1v1_5)
            default: return false
            }
        } catch {
            return false
        }
    }
}

/// The bytes that a server sends before encryption begins (RFC 4253).
struct SSHTranscript: Hashable, Sendable {
    enum Message: UInt8 {
        case disconnect = 1
        case proposal = 20
        case exchangeInit = 30
        case exchangeReply = 31
    }

    /// The maximum number of bytes that are read.
    static let byteLimit = 16 * 1024
    /// The maximum length of the identification (RFC 4253, section 4.2).
    private static let longest = 255

    /// The identification without the line end; nil if it is not complete.
    private(set) var identification: [UInt8]?
    /// The payloads of the complete packets.
    private(set) var payloads: [[UInt8]] = []
    private(set) var isMalformed = false
    let isEmpty: Bool

    init(_ bytes: [UInt8]) {
        isEmpty = bytes.isEmpty
        var rest = bytes[...]
        // Other lines may precede the identification.
        while identification == nil, let end = rest.firstIndex(of: 0x0a) {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            guard line.starts(with: "SSH-".utf8) else { continue }
            identification = Array(line.last == 0x0d ? line.dropLast() : line)
        }
        guard let identification else { return }
        isMalformed = identification.count > Self.longest
        while rest.count >= 5, !isMalformed {
            let header = Array(rest.prefix(5))
            let length = header.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let payload = length - Int(header[4]) - 1
            guard length <= Self.byteLimit, payload > 0 else {
                isMalformed = true
                return
            }
            guard rest.count >= 4 + length else { return }
            payloads.append(Array(rest.dropFirst(5).prefix(payload)))
            rest = rest.dropFirst(4 + length)
            // What follows the reply may be encrypted.
            if payloads.last?.first == Message.exchangeReply.rawValue { return }
        }
    }

    /// True if the server supports version 2 of the protocol. A server that also supports version 1 reports 1.99.
    var supportsVersion2: Bool {
        identification.map { $0.starts(with: "SSH-2.0-".utf8) || $0.starts(with: "SSH-1.99-".utf8) } ?? false
    }

    /// Returns the first payload of a kind.
    func message(_ kind: Message) -> [UInt8]? { payloads.first { $0.first == kind.rawValue } }

    /// Returns whether no more bytes are needed.
    func isComplete(withKey needsKey: Bool) -> Bool {
        guard identification != nil else { return false }
        return !needsKey || isMalformed || message(.exchangeReply) != nil || message(.disconnect) != nil
    }
}

extension DNSReader {
    /// Reads bytes that follow their length in four bytes (RFC 4251, section 5).
    fileprivate mutating func sshString() throws(DNSFault) -> [UInt8] { Array(try take(Int(try longWord()))) }

    /// Reads a number without a sign as a given number of bytes.
    fileprivate mutating func sshNumber(_ size: Int) throws(DNSFault) -> [UInt8] {
        let digits = try sshString().drop { $0 == 0 }
        guard digits.count <= size else { throw .badRecord }
        return [UInt8](repeating: 0, count: size - digits.count) + digits
    }
}

extension [UInt8] {
    fileprivate mutating func append(longWord number: Int) {
        append(word: UInt16(truncatingIfNeeded: number >> 16))
        append(word: UInt16(truncatingIfNeeded: number))
    }

    /// Appends bytes after their length.
    fileprivate mutating func append(ssh bytes: [UInt8]) {
        append(longWord: bytes.count)
        self += bytes
    }
}
