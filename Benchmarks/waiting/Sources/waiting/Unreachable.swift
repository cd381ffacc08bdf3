import ReachabilityRetry

/// A verdict source whose network is never reachable.
struct Unreachable: VerdictSource {
    func watch(_ host: String?, _ listener: @escaping @Sendable (RetryVerdict) -> Void) -> any VerdictWatch {
        listener(Watch.verdict)
        return Watch()
    }

    private final class Watch: VerdictWatch {
        static let verdict = RetryVerdict(status: .notReachable, generation: 1)

        func ask() -> RetryVerdict { Self.verdict }
    }
}
