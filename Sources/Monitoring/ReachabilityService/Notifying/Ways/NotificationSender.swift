package import ReachabilityRetry

/// Tells somebody, in one way.
package protocol NotificationSender: Sendable {
    /// Whom the network must lead to; nil where none is needed.
    var host: String? { get }
    /// How often what lasts is told again; nil for never.
    var repetition: Duration? { get }

    /// Tells once. It ends soon after its task is cancelled.
    ///
    /// - Parameter notifications: What is to be told, and what lasts where that is told again; more than one only then.
    /// - Throws: ``DeliveryFailure``.
    func send(_ notifications: [Notification]) async throws(DeliveryFailure)
}

extension NotificationSender {
    package var host: String? { nil }
    package var repetition: Duration? { nil }
}

/// Why something was not told.
package struct DeliveryFailure: RetryableError {
    /// In a few words, without addresses and secrets.
    package let text: String
    /// How far it got; nil where it is given up.
    package let failureStage: FailureStage?

    package init(_ text: String, _ stage: FailureStage?) {
        (self.text, failureStage) = (text, stage)
    }
}
