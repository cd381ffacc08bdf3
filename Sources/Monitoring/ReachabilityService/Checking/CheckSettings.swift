package import ReachabilityChecks

/// How a target is checked: what is asked of it, how often, and what makes it down.
package struct CheckSettings: Hashable, Sendable {
    /// One question to a target; it is up where all of them are answered as they should be.
    package struct Question: Hashable, Sendable {
        /// What is asked; nil for the network at large.
        package var target: CheckTarget?
        /// What a server must show besides; nil for a valid certificate.
        package var policy: TrustPolicy?

        package init(_ target: CheckTarget?, policy: TrustPolicy? = nil) {
            (self.target, self.policy) = (target, policy)
        }
    }

    /// Never empty.
    package var questions: [Question]
    /// What proves the internet, as the user chose.
    package var anchors: [CheckOptions.Anchor] = []
    /// From the beginning of one check to that of the next, while the target is up.
    package var interval: Duration = .seconds(30)
    /// The same while it is not.
    package var intervalWhenDown: Duration = .seconds(5)
    /// The same of the network at large, unless it is said.
    package static let intervalOfNetwork = Duration.seconds(10)
    /// So many checks in a row must fail before a target that was up is down.
    package var confirm = 2

    package init(_ questions: [Question]) {
        self.questions = questions
    }
}
