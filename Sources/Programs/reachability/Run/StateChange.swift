import NetworkReachability

/// A state a command is run for, and the one before it.
struct StateChange: Hashable, Sendable {
    let path: NetworkPath
    /// The status the decision before was about; nil when there was none.
    let previous: NetworkReachabilityStatus?
}
