import LinuxSupport
import NetworkReachability

/// Which anchors want not to be asked for a while: what one round is told, the next ones know. Thread-safe.
final class AnchorRest: Sendable {
    /// Of all checks of the process.
    static let process = AnchorRest()

    /// Who shows that he is the anchor is believed for so long.
    static let longest = Duration.seconds(3600)
    /// Anybody on the way can say it in his name, a captive portal for example.
    static let longestUnproven = Duration.seconds(60)

    private let ends = Locked<[CheckOptions.Anchor: ContinuousClock.Instant]>([:])

    /// Takes what came of asking an anchor.
    func note(_ results: [ProbeResult], of anchor: CheckOptions.Anchor, at now: ContinuousClock.Instant = .now) {
        for result in results {
            guard let wait = result.evidence.http?.retryAfter else { continue }
            let longest = result.isVerified || result.isEchoed ? Self.longest : Self.longestUnproven
            let end = now + min(wait, longest)
            ends.withLock { $0[anchor] = max($0[anchor] ?? end, end) }
        }
    }

    /// Those that may be asked now.
    func awake(_ anchors: [CheckOptions.Anchor], at now: ContinuousClock.Instant = .now) -> [CheckOptions.Anchor] {
        ends.withLock { ends in
            ends = ends.filter { $0.value > now }
            return anchors.filter { ends[$0] == nil }
        }
    }
}
