/// What was observed of a target at one moment: what the kernel says of the path, and what a check found, if there was one.
public struct Observation: Hashable, Sendable {
    /// What the kernel says of the path.
    public enum Path: Hashable, Sendable {
        /// A packet would leave.
        case reachable
        /// It would not, for a reason of `NetworkPath.UnsatisfiedReason`.
        case notReachable(reason: String)
        /// Nothing can be said, for a reason of the same kind.
        case unknown(reason: String)
        /// The service did not run.
        case notObserved
        /// The machine was asleep.
        case suspended
    }

    /// What an active check found: the raw values of its place and reason.
    public struct Check: Hashable, Sendable {
        /// Where it breaks, for example `gateway`.
        public var place: String
        /// Why, for example `neighbourFailed`.
        public var reason: String
        /// Whether what fails is on this machine, though others have the like of it: a name server of its own.
        public var isLocal: Bool

        /// - Parameters:
        ///   - place: Where it breaks.
        ///   - reason: Why.
        ///   - isLocal: Whether what fails is on this machine.
        public init(place: String, reason: String, isLocal: Bool = false) {
            self.place = place
            self.reason = reason
            self.isLocal = isLocal
        }
    }

    /// What the kernel says.
    public var path: Path
    /// What the latest check of the same path found; nil where nothing is checked.
    public var check: Check?

    /// - Parameters:
    ///   - path: What the kernel says.
    ///   - check: What the latest check of the same path found.
    public init(path: Path, check: Check? = nil) {
        self.path = path
        self.check = check
    }
}
