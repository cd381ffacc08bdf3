extension NetworkEvidence {
    /// One link of the chain of evidence.
    public struct Step: Hashable, Sendable {
        /// What a step is about. The raw value is the name in JSON output.
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            /// The kernel itself; a step only where it cannot be asked.
            case kernel
            /// Where the name was looked up; a step only of a target that is a name.
            case resolver
            /// A name server, one step for each; none where the hosts file has the name.
            case server
            /// The name and its addresses; a step only of a target that is a name.
            case name
            /// The quorum of the addresses that stand for the network at large; a step only of that.
            case quorum = "vote"
            /// The address that decided.
            case address
            /// The policy rule (`ip-rule(8)`).
            case rule
            /// The route (`ip-route(8)`).
            case route
            /// The interface and what it runs over (`ip-link(8)`).
            case link
            /// The gateway or the destination as a neighbour (`ip-neighbour(8)`).
            case neighbour
            /// The source address packets get (`ip-address(8)`).
            case source
            /// What it comes to.
            case verdict
        }

        /// How a step stands. The raw value is the name in JSON output.
        public enum State: String, Hashable, Sendable, CaseIterable {
            /// It holds.
            case ok
            /// The chain breaks here. At most one step before the verdict does; the verdict then does too.
            case broken
            /// The chain breaks before.
            case notReached
            /// Worth knowing, but it decides nothing.
            case informational
        }

        /// What it is about.
        public var kind: Kind

        /// How it stands.
        public var state: State

        /// What was found, in a few words for people. The words may change; programs read the other members.
        public var summary: String

        /// What would mend it, in one sentence for people; nil unless the step is the first that is broken.
        public var remedy: String?
    }
}
