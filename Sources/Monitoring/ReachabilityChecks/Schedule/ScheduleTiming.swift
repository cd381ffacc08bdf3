import LinuxSupport

/// How long a schedule waits for what.
///
/// | What | Otherwise | Metered |
/// |---|---|---|
/// | from a change to the first round | 250 ms | 250 ms |
/// | how fresh passive proof must be, and from one observation to the next | 30 s | 30 s |
/// | between cheap probes, without passive proof | 60 s | 600 s |
/// | between full rounds, without passive proof | 900 s, of each machine up to a quarter more or less | never |
/// | the rounds of a suspicion | 0, 1, 3 s | 0, 1, 3 s |
/// | between rounds while it is broken | 1, 2, 4 ... 60 s | 1, 2, 4 ... 300 s, after two hours 900 s |
/// | from one success to the one that is told | 2 s | 2 s |
/// | between rounds in a captive portal | 20 s while somebody waits, else 60, 120 ... 600 s | the same |
/// | how old an answer may be for one who asks | 5 s | 5 s |
package enum ScheduleTiming {
    static let settle = Duration.milliseconds(250)
    static let observation = Duration.seconds(30)
    static let freshness = Duration.seconds(30)
    static let fullInterval = Duration.seconds(900)
    static let trial: [Duration] = [.zero, .seconds(1), .seconds(3)]
    static let recovery = Duration.seconds(2)
    static let awaitedPortal = Duration.seconds(20)
    static let reuse = Duration.seconds(5)
    /// From the start of one round to that of the next.
    static let spacing = Duration.seconds(1)
    /// What passive proof says against the probes is not believed again for so long.
    static let disbelief = Duration.seconds(900)
    /// A captive portal says when the session ends, and may say anything.
    static let session = Duration.seconds(20)...Duration.seconds(86_400)
    static let longestPortalWait = Duration.seconds(600)
    static let jitter = 0.75...1.25

    /// - Parameter place: of the machine in its fleet, 0 to 1: 675 to 1125 s.
    static func fullInterval(_ place: Double) -> Duration { fullInterval * (0.75 + min(max(place, 0), 1) / 2) }

    static func cheapInterval(isMetered: Bool) -> Duration { .seconds(isMetered ? 600 : 60) }

    /// - Parameters:
    ///   - number: of the retry; 0 is the first.
    ///   - age: for how long it has been broken.
    static func retry(_ number: Int, isMetered: Bool, brokenFor age: Duration) -> Duration {
        let longest: Duration = !isMetered ? .seconds(60) : age < .seconds(7200) ? .seconds(300) : .seconds(900)
        return min(longest, .seconds(1 << min(number, 10)))
    }

    static func portal(_ number: Int) -> Duration { min(longestPortalWait, .seconds(60 << min(number, 4))) }
}

/// Where a machine stands among all others, by the hash of its number: nobody is told either, and it is always the same.
enum MachinePlace {
    /// At least 0 and below 1; by chance where the machine has no number (`machine-id(5)`).
    static let ofThisMachine = TextFile.read("/etc/machine-id", limit: 64).flatMap(of) ?? .random(in: 0..<1)

    /// - Parameter number: as the file has it.
    /// - Returns: nil where it has none yet.
    static func of(_ number: String) -> Double? {
        let digits = number.utf8.prefix { $0 != UInt8(ascii: "\n") }
        guard digits.count == 32 else { return nil }
        // FNV-1a, mixed once more, for its upper bits hardly depend on the last digits. Secret it need not be.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in digits { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ hash >> 32) &* 0x9e37_79b9_7f4a_7c15
        return Double(hash >> 11) / Double(1 << 53)
    }
}

/// How much time a round of a check that goes on has: on a line as slow as some over satellites and in bad reception, more than usual. Never
/// less, for a router takes three seconds to say that a host is unreachable.
struct RoundPatience: Sendable {
    static let longest = Duration.seconds(8)

    /// The slowest of the round trips that were measured; it rises at once, and falls slowly.
    private var roundTrip = Duration.zero

    /// Takes what a round has measured.
    mutating func note(_ results: [ProbeResult]) {
        guard let slowest = results.compactMap(\.evidence.kernelRoundTrip).max() else { return }
        roundTrip = max(slowest, (roundTrip * 7 + slowest) / 8)
    }

    /// Room for four round trips: a name, a connection, a handshake, an answer.
    ///
    /// - Parameter usual: what the user wants; anything but the default is kept to.
    func limit(_ usual: Duration) -> Duration {
        guard usual == CheckOptions().timeLimit else { return usual }
        return max(usual, min(Self.longest, roundTrip * 4 + .milliseconds(300)))
    }
}
