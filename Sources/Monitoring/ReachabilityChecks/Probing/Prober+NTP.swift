import LinuxSupport
import NetworkReachability

/// Probes of time servers.
extension Prober {
    /// Asks a server for the time with one question (SNTP, RFC 4330). The clock of this machine is not changed.
    ///
    /// - Parameter stratum: The maximum stratum of the server.
    func queryTime(of address: IPAddress, port: UInt16, stratum: UInt8, limit: Duration) async -> ProbeResult {
        let request = request(.ntp, .target, address, port: port, limit: limit)
        let nonce = UInt64.random(in: 1 ... .max)
        let arrival = Locked<Duration?>(nil)
        await gate.pass()
        let outcome = await engine.send(
            DatagramRequest(
                to: endpoint(address, port: port),
                .payload(NTPAnswer.question(nonce)),
                settings: settings(),
                // Servers limit the rate of questions from a client.
                tries: [.zero, .milliseconds(1200)],
                limit: limit,
                accepts: { bytes in
                    guard NTPAnswer(bytes, to: nonce) != nil else { return false }
                    arrival.withLock { $0 = SystemClock.real }
                    return true
                }
            )
        )
        var result = result(request, outcome)
        guard let received = outcome.answers.first(where: \.isAccepted), let arrived = arrival.withLock(\.self),
            let answer = NTPAnswer(received.payload, to: nonce)
        else {
            // A closed port of this machine, which is the target.
            if result.outcome == .refused(.thisMachine) { result.outcome = .refused(.peer) }
            if result.outcome == .silent, !outcome.answers.isEmpty { result.outcome = .invalid(.mismatchedAnswer) }
            return result
        }
        result.evidence.ntp = NTPFacts(
            stratum: answer.stratum,
            isAlarmed: answer.isAlarmed,
            offset: answer.offset(sent: arrived - received.timing.elapsed, received: arrived)
        )
        if let code = answer.refusal {
            // The server is well, but received too many requests (RFC 5905, 7.4).
            result.outcome = .invalid(code == "RATE" ? .retryAfter : .serverRefused)
            result.evidence.detail = "refuses the question with the code \(code)"
        } else if answer.isAlarmed || answer.stratum >= NTPAnswer.unsynchronized {
            result.outcome = .invalid(.notSynchronized)
            result.evidence.detail = "its clock is not synchronized"
        } else if answer.stratum > stratum {
            result.outcome = .invalid(.stratumTooHigh)
            result.evidence.detail = "its stratum is \(answer.stratum), and at most \(stratum) is expected"
        }
        if result.outcome != .answered { result.failedPhase = .request }
        return result
    }
}

/// The answer of a time server (RFC 5905, section 7.3).
struct NTPAnswer: Hashable, Sendable {
    /// The stratum of a server without a synchronized clock.
    static let unsynchronized: UInt8 = 16
    /// The seconds from 1900 to 1970.
    private static let epoch: Int64 = 2_208_988_800

    let stratum: UInt8
    /// True if the clock of the server is not synchronized (leap indicator 3).
    let isAlarmed: Bool
    /// The reason of a refusal, for example `RATE` (stratum 0, RFC 5905, section 7.4); nil for an answer with a time.
    let refusal: String?
    /// The times at which the server received the question and sent the answer, in units of 2^-32 s since 1900.
    private let (received, sent): (UInt64, UInt64)

    /// Returns the datagram of a question. It contains a random number in place of the time, so that the answer cannot be forged easily.
    static func question(_ nonce: UInt64) -> [UInt8] {
        // Version 4, mode 3 (client).
        [0x23] + [UInt8](repeating: 0, count: 39)
            + stride(from: 56, through: 0, by: -8).map { UInt8(nonce >> $0 & 0xff) }
    }

    /// Parses an answer. Nil if it is not an answer of a server to this question.
    init?(_ bytes: [UInt8], to nonce: UInt64) {
        // Mode 4: server.
        guard bytes.count >= 48, bytes[0] & 7 == 4, Self.number(bytes[24..<32]) == nonce else { return nil }
        (stratum, isAlarmed) = (bytes[1], bytes[0] >> 6 == 3)
        refusal = bytes[1] == 0 ? String(decoding: bytes[12..<16].prefix { $0 != 0 }, as: UTF8.self).printable : nil
        (received, sent) = (Self.number(bytes[32..<40]), Self.number(bytes[40..<48]))
        guard refusal != nil || sent != 0 else { return nil }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    /// Returns the offset of the server's clock; nil for a refusal.
    ///
    /// - Parameters:
    ///   - start: The time since 1970 at which the question was sent.
    ///   - end: The time since 1970 at which the answer was received.
    func offset(sent start: Duration, received end: Duration) -> Duration? {
        guard refusal == nil else { return nil }
        // Differences modulo 2^32 s are right in every era of NTP.
        let there = Int64(bitPattern: received &- Self.stamp(start))
        let back = Int64(bitPattern: sent &- Self.stamp(end))
        let mean = there / 2 + back / 2
        return .seconds(mean >> 32) + .nanoseconds(((mean & 0xffff_ffff) * 1_000_000_000) >> 32)
    }

    /// Returns a time since 1970 in units of 2^-32 s since 1900.
    private static func stamp(_ time: Duration) -> UInt64 {
        let (seconds, attoseconds) = time.components
        let fraction = (UInt64(max(0, attoseconds) / 1_000_000_000) << 32) / 1_000_000_000
        return UInt64(bitPattern: seconds &+ epoch) << 32 | fraction & 0xffff_ffff
    }
}
