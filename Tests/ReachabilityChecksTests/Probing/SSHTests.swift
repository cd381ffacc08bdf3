import Crypto
import LinuxSupport
import ServerTrust
import TestSupport
import Testing

@testable import ReachabilityChecks

/// The beginning of SSH connections, with recordings of OpenSSH.
@Suite struct SSHTests {
    private static let recordings = [SSHRecording.ed25519, SSHRecording.ecdsa, SSHRecording.rsa]

    private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64.decode(text[...])) }

    private func exchange() throws -> SSHKeyExchange {
        let key = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: Array(1...32) as [UInt8])
        return SSHKeyExchange(key: key, cookie: Array(0..<16))
    }

    /// Returns whether the bytes of a server prove its host key.
    private func isProven(_ bytes: [UInt8]) throws -> Bool {
        let transcript = SSHTranscript(bytes)
        guard let key = transcript.message(.exchangeReply).flatMap(SSHHostKey.init),
            let hash = try exchange().hash(transcript, key)
        else { return false }
        return key.isProven(by: hash)
    }

    @Test(arguments: 0..<3)
    func `a server proves its host key, whose fingerprint is that of ssh-keygen`(index: Int) throws {
        let recording = Self.recordings[index]
        let bytes = try bytes(recording.text)
        let transcript = SSHTranscript(bytes)
        #expect(
            transcript.identification.map { String(decoding: $0, as: UTF8.self) }
                == "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u10"
        )
        #expect(transcript.supportsVersion2 && transcript.isComplete(withKey: true))
        let key = try #require(transcript.message(.exchangeReply).flatMap(SSHHostKey.init))
        #expect(key.fingerprint == recording.fingerprint && SSHHostKey.isFingerprint(key.fingerprint))
        #expect(try isProven(bytes))
    }

    @Test func `another exchange, identification, key or signature proves nothing`() throws {
        let bytes = try bytes(SSHRecording.ed25519.text)
        let transcript = SSHTranscript(bytes)
        let key = try #require(transcript.message(.exchangeReply).flatMap(SSHHostKey.init))
        let other = try #require(SSHKeyExchange().hash(transcript, key))
        #expect(!key.isProven(by: other))
        // A byte of the identification, the host key, the public key of the exchange and the signature.
        for index in [10, bytes.count - 240, bytes.count - 190, bytes.count - 60] {
            var damaged = bytes
            damaged[index] ^= 1
            #expect(try !isProven(damaged), "\(index)")
        }
    }

    @Test func `damaged bytes never prove a key and never crash`() async throws {
        var chance = SeededGenerator(seed: 23)
        let good = try bytes(SSHRecording.rsa.text)
        let owner = try #require(SSHTranscript(good).message(.exchangeReply).flatMap(SSHHostKey.init))
        for round in 0..<MutationCount.value {
            await takeTurns(in: round)
            let damaged = DamagedBytes.make(from: good, using: &chance)
            let transcript = SSHTranscript(damaged)
            _ = transcript.isComplete(withKey: true)
            guard let key = transcript.message(.exchangeReply).flatMap(SSHHostKey.init), key != owner else { continue }
            let hash = try exchange().hash(transcript, key) ?? []
            #expect(!key.isProven(by: hash), "\(round)")
        }
    }

    @Test(arguments: [
        ("SSH-2.0-a\r\n", true, true), ("SSH-1.99-b\n", true, true), ("hello\r\nSSH-2.0-c\r\n", true, true),
        ("SSH-1.5-d\r\n", true, false), ("SSH-2.0-e", false, false), ("220 mail.example\r\n", false, false),
        ("", false, false),
    ])
    func `an identification is a complete line`(text: String, isComplete: Bool, isUsable: Bool) {
        let transcript = SSHTranscript(Array(text.utf8))
        #expect(transcript.isComplete(withKey: false) == isComplete && transcript.supportsVersion2 == isUsable)
        #expect(!transcript.isComplete(withKey: true))
    }

    @Test func `lengths that do not fit are malformed`() {
        let line = Array("SSH-2.0-x\r\n".utf8)
        for packet: [UInt8] in [[0xff, 0xff, 0xff, 0xff, 0], [0, 0, 0, 4, 200, 0, 0, 0], [0, 0, 0, 0, 0]] {
            let transcript = SSHTranscript(line + packet)
            #expect(transcript.isMalformed && transcript.isComplete(withKey: true))
        }
        #expect(!SSHTranscript(line + [0, 0, 0, 12, 10]).isMalformed)
        #expect(SSHTranscript(Array("SSH-2.0-\(String(repeating: "x", count: 300))\r\n".utf8)).isMalformed)
    }

    @Test(arguments: [
        "SHA256:l1A5mWGPrwMJqyORDhkPyQoOpByOBoGJk+sW/FRrbN", "MD5:00:11", "l1A5mWGPrwMJqyORDhkPyQoOpByOBoGJk+sW/FRrbNE",
        "SHA256:!1A5mWGPrwMJqyORDhkPyQoOpByOBoGJk+sW/FRrbNE", "SHA256:",
    ])
    func `other texts are not fingerprints`(text: String) {
        #expect(!SSHHostKey.isFingerprint(text))
    }
}

/// Answers of time servers.
@Suite struct NTPTests {
    private static let nonce: UInt64 = 0x0102_0304_0506_0708

    /// Returns an answer of a server whose clock shows these times, in units of 2^-32 s.
    private func answer(
        _ first: UInt8 = 0x24,
        stratum: UInt8 = 2,
        code: String = "GPS",
        received: UInt64,
        sent: UInt64
    ) -> [UInt8] {
        let code = Array(code.utf8) + [UInt8](repeating: 0, count: 4 - code.utf8.count)
        let times = [0, Self.nonce, received, sent].flatMap { number in
            stride(from: 56, through: 0, by: -8).map { UInt8(number >> $0 & 0xff) }
        }
        return [first, stratum, 6, 0xe9] + [UInt8](repeating: 0, count: 8) + code + times
    }

    /// 2026-01-01T00:00:00Z.
    private static let now = Duration.seconds(1_767_225_600)
    private static let stamp = UInt64(1_767_225_600 + 2_208_988_800) << 32

    @Test(arguments: [
        (Int64(3) << 31, Duration.milliseconds(1500)), (-(Int64(5) << 30), .milliseconds(-1250)), (0, .zero),
    ])
    func `the offset is half of the difference in both directions`(ahead: Int64, offset: Duration) throws {
        let there = Self.stamp &+ UInt64(bitPattern: ahead)
        // The question took 100 ms, and the answer took 100 ms.
        let part = (UInt64(1) << 32) / 10
        let parsed = try #require(NTPAnswer(answer(received: there + part, sent: there + part), to: Self.nonce))
        let found = try #require(parsed.offset(sent: Self.now, received: Self.now + .milliseconds(200)))
        #expect(abs((found - offset) / .milliseconds(1)) < 0.01)
        #expect(parsed.stratum == 2 && !parsed.isAlarmed && parsed.refusal == nil)
    }

    @Test func `the offset is right when the seconds of NTP begin again in 2036`() throws {
        // The server is one second ahead, and its seconds have begun again.
        let end = Duration.seconds(Int64(1) << 32) - .seconds(2_208_988_800)
        let parsed = try #require(NTPAnswer(answer(received: 1 << 32, sent: 1 << 32), to: Self.nonce))
        #expect(parsed.offset(sent: end, received: end) == .seconds(1))
    }

    @Test func `other datagrams are not answers`() {
        let good = answer(received: Self.stamp, sent: Self.stamp)
        #expect(NTPAnswer(good, to: Self.nonce) != nil && NTPAnswer(good, to: 1) == nil)
        #expect(NTPAnswer(Array(good.dropLast()), to: Self.nonce) == nil && NTPAnswer([], to: Self.nonce) == nil)
        #expect(NTPAnswer(NTPAnswer.question(Self.nonce), to: Self.nonce) == nil)
        #expect(NTPAnswer(answer(received: Self.stamp, sent: 0), to: Self.nonce) == nil)
        #expect(NTPAnswer.question(Self.nonce).count == 48)
    }

    @Test func `a refusal and an alarm are recognised`() throws {
        let refusal = try #require(
            NTPAnswer(answer(0xe4, stratum: 0, code: "RATE", received: 0, sent: 0), to: Self.nonce)
        )
        #expect(refusal.refusal == "RATE" && refusal.offset(sent: .zero, received: .zero) == nil)
        let alarm = try #require(NTPAnswer(answer(0xe4, stratum: 16, received: 1, sent: 1), to: Self.nonce))
        #expect(alarm.isAlarmed && alarm.stratum == NTPAnswer.unsynchronized)
    }

    @Test func `extreme times do not trap`() throws {
        let values: [UInt64] = [0, 1, 1 << 63, .max]
        for received in values {
            for sent in values where sent != 0 {
                let parsed = try #require(NTPAnswer(answer(received: received, sent: sent), to: Self.nonce))
                for time in [Duration.zero, .seconds(Int64.max), .seconds(-5), .nanoseconds(-1)] {
                    _ = parsed.offset(sent: time, received: time)
                }
            }
        }
    }
}
