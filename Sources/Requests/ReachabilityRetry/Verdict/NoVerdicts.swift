/// Nobody says what is reachable: every verdict is unknown, so that only an attempt tells.
public struct NoVerdicts: VerdictSource {
    /// Knows of no network.
    public init() {}

    /// Says once that nothing is known.
    public func watch(_ host: String?, _ listener: @escaping @Sendable (RetryVerdict) -> Void) -> any VerdictWatch {
        listener(.unknown)
        return Watch()
    }

    private final class Watch: VerdictWatch {
        func ask() -> RetryVerdict { .unknown }
    }
}
