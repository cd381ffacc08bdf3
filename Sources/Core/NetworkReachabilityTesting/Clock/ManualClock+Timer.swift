import Dispatch

extension ManualClock {
    /// An action and when it is due.
    struct Timer: Sendable {
        let deadline: Duration
        let queue: DispatchQueue
        let action: @Sendable () -> Void
    }
}
