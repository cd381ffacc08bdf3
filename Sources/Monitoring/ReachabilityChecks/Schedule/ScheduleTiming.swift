import LinuxSupport

/// The times of a schedule.
///
/// | Time | Default | Metered |
/// |---|---|---|
/// | from a change to the first round | 250 ms | 250 ms |
/// | the maximum age of passive proof, and the interval of observations | 30 s | 30 s |
/// | the interval of minimal probes, without passive proof | 60 s | 600 s |
/// | the interval of full rounds, without passive proof | 900 s ± 25 %, different on each machine | never |
/// | the rounds of a suspicion | 0, 1, 3 s | 0, 1, 3 s |
/// | the interval of rounds during a fault | 1, 2, 4 ... 60 s | 1, 2, 4 ... 300 s, after two hours 900 s |
/// | from the first success to its notification | 2 s | 2 s |
/// | the interval of rounds in a captive portal | 20 s if a caller waits, else 60, 120 ... 600 s | the same |
enum ScheduleTiming {
    static let settle = Duration.milliseconds(250)
    static let observation = Duration.seconds(30)
    static let freshness = Duration.seconds(30)
    static let fullInterval = Duration.seconds(900)
    static let trial: [Duration] = [.zero, .seconds(1), .seconds(3)]
    static let recovery = Duration.seconds(2)
    static let awaitedPortal = Duration.seconds(20)
    /// The minimum time between the starts of two rounds.
    static let spacing = Duration.seconds(1)
    /// The time for which passive proof is ignored after probes contradicted it.
    static let disbelief = Duration.seconds(900)
    /// The limits for the announced end of a captive portal session.
    static let session = Duration.seconds(20)...Duration.seconds(86_400)
    static let longestPortalWait = Duration.seconds(600)
    static let jitter = 0.75...1.25

    /// Returns an interval from 675 to 1125 s.
    ///
    /// - Parameter place: The position of the machine, from 0 to 1.
    static func fullInterval(_ place: Double) -> Duration { fullInterval * (0.75 + min(max(place, 0), 1) / 2) }

    static func minimalInterval(isMetered: Bool) -> Duration { .seconds(isMetered ? 600 : 60) }

    /// Returns the interval before a round during a fault.
    ///
    /// - Parameters:
    ///   - number: The number of the round; 0 is the first.
    ///   - age: The age of the fault.
    static func retry(_ number: Int, isMetered: Bool, brokenFor age: Duration) -> Duration {
        let longest: Duration = !isMetered ? .seconds(60) : age < .seconds(7200) ? .seconds(300) : .seconds(900)
        return min(longest, .seconds(1 << min(number, 10)))
    }

    static func portal(_ number: Int) -> Duration { min(longestPortalWait, .seconds(60 << min(number, 4))) }
}

/// The position of this machine among all others: a hash of its identifier. Neither the hash nor the identifier is sent.
enum MachinePosition {
    /// The position, from 0 to below 1. Random if the machine has no identifier (`machine-id(5)`).
    static let ofThisMachine = TextFile.read("/etc/machine-id", limit: 64).flatMap(of) ?? .random(in: 0..<1)

    /// Returns the position for an identifier.
    ///
    /// - Parameter number: The content of `/etc/machine-id`.
    /// - Returns: Nil if the content is not an identifier.
    static func of(_ number: String) -> Double? {
        let digits = number.utf8.prefix { $0 != UInt8(ascii: "\n") }
        guard digits.count == 32 else { return nil }
        // FNV-1a with an additional mixing step, because its upper bits hardly depend on the last digits.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in digits { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ hash >> 32) &* 0x9e37_79b9_7f4a_7c15
        return Double(hash >> 11) / Double(1 << 53)
    }
}

/// The time limit for the rounds of a continuous check. It increases on slow lines. It is never less than the default, because a router
/// takes three seconds to report that a host is unreachable.
struct RoundTimeLimit: Sendable {
    static let longest = Duration.seconds(8)

    /// The slowest measured round trip. It rises immediately and falls slowly.
    private var roundTrip = Duration.zero

    /// Updates the round trip with the results of a round.
    mutating func note(_ results: [ProbeResult]) {
        guard let slowest = results.compactMap(\.evidence.kernelRoundTrip).max() else { return }
        roundTrip = max(slowest, (roundTrip * 7 + slowest) / 8)
    }

    /// Returns the time for four round trips: name, connection, handshake and answer.
    ///
    /// - Parameter usual: The user's setting. If it is not the default, it is returned unchanged.
    func limit(_ usual: Duration) -> Duration {
        guard usual == CheckOptions().timeLimit else { return usual }
        return max(usual, min(Self.longest, roundTrip * 4 + .milliseconds(300)))
    }
}
