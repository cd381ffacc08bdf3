import ReachabilityRetry

/// A verdict source whose network is never reachable.
struct Unreachable: ReachabilityProvider {
    func watch(_ host: String?, _ listener: @escaping @Sendable (HostReachability) -> Void) -> any ReachabilityWatch {
        listener(Watch.verdict)
        return Watch()
    }

    private final class Watch: ReachabilityWatch {
        static let verdict = HostReachability(status: .notReachable, generation: 1)

        func ask() -> HostReachability { Self.verdict }
    }
}
