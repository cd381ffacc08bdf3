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
