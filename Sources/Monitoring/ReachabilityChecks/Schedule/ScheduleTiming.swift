import LinuxSupport

/// The times of a schedule.
///
/// | Time | Default | Metered |
/// |---|---|---|
/// | from a change to the first round | 250 ms | 250 ms |
/// | the maximum age of passive proof, and between observations | 30 s | 30 s |
/// | between cheap probes, without passive proof | 60 s | 600 s |
/// | between full rounds, without passive proof | 900 s, of each machine up to a quarter more or less | never |
/// | the rounds of a suspicion | 0, 1, 3 s | 0, 1, 3 s |
/// | between rounds while it is broken | 1, 2, 4 ... 60 s | 1, 2, 4 ... 300 s, after two hours 900 s |
/// | from the first success to the notified one | 2 s | 2 s |
/// | between rounds in a captive portal | 20 s if a caller waits, else 60, 120 ... 600 s | the same |
enum ScheduleTiming {
    static let settle = Duration.milliseconds(250)
    static let observation = Duration.seconds(30)
    static let freshness = Duration.seconds(30)
    static let fullInterval = Duration.seconds(900)
    static let trial: [Duration] = [.zero, .seconds(1), .seconds(3)]
    static let recovery = Duration.seconds(2)
    static let awaitedPortal = Duration.seconds(20)
    /// The minimum time between the starts of rounds.
    static let spacing = Duration.seconds(1)
    /// The time for which passive proof is ignored after probes contradicted it.
    static let disbelief = Duration.seconds(900)
    /// The limits for the end of a session, which a captive portal announces.
    static let session = Duration.seconds(20)...Duration.seconds(86_400)
    static let longestPortalWait = Duration.seconds(600)
    static let jitter = 0.75...1.25

    /// - Parameter place: The place of the machine, 0 to 1, for 675 to 1125 s.
    static func fullInterval(_ place: Double) -> Duration { fullInterval * (0.75 + min(max(place, 0), 1) / 2) }

    static func cheapInterval(isMetered: Bool) -> Duration { .seconds(isMetered ? 600 : 60) }

    /// - Parameters:
    ///   - number: The number of the retry; 0 is the first.
    ///   - age: The age of the fault.
    static func retry(_ number: Int, isMetered: Bool, brokenFor age: Duration) -> Duration {
        let longest: Duration = !isMetered ? .seconds(60) : age < .seconds(7200) ? .seconds(300) : .seconds(900)
        return min(longest, .seconds(1 << min(number, 10)))
    }

    static func portal(_ number: Int) -> Duration { min(longestPortalWait, .seconds(60 << min(number, 4))) }
}

/// The place of this machine among all others, by a hash of its identifier. Neither is sent.
enum MachinePlace {
    /// At least 0 and below 1; random if the machine has no identifier (`machine-id(5)`).
    static let ofThisMachine = TextFile.read("/etc/machine-id", limit: 64).flatMap(of) ?? .random(in: 0..<1)

    /// - Parameter number: The content of the file.
    /// - Returns: Nil if it has no identifier.
    static func of(_ number: String) -> Double? {
        let digits = number.utf8.prefix { $0 != UInt8(ascii: "\n") }
        guard digits.count == 32 else { return nil }
        // FNV-1a, mixed once more, because its upper bits hardly depend on the last digits.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in digits { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ hash >> 32) &* 0x9e37_79b9_7f4a_7c15
        return Double(hash >> 11) / Double(1 << 53)
    }
}

/// The time limit of the rounds of a continuous check, which grows on slow lines. It never shrinks, because a router takes three seconds to
/// report that a host is unreachable.
struct RoundPatience: Sendable {
    static let longest = Duration.seconds(8)

    /// The slowest measured round trip. It rises at once, and falls slowly.
    private var roundTrip = Duration.zero

    /// Takes the results of a round.
    mutating func note(_ results: [ProbeResult]) {
        guard let slowest = results.compactMap(\.evidence.kernelRoundTrip).max() else { return }
        roundTrip = max(slowest, (roundTrip * 7 + slowest) / 8)
    }

    /// Returns the time for four round trips: a name, a connection, a handshake, and an answer.
    ///
    /// - Parameter usual: The user's setting. It is used unchanged unless it is the default.
    func limit(_ usual: Duration) -> Duration {
        guard usual == CheckOptions().timeLimit else { return usual }
        return max(usual, min(Self.longest, roundTrip * 4 + .milliseconds(300)))
    }
}
