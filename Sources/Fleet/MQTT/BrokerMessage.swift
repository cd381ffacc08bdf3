/// A message to or from a broker.
package struct BrokerMessage: Hashable, Sendable {
    package var topic: String
    package var payload: [UInt8]
    /// To a broker: whether it keeps the message for who subscribes later. From a broker: whether it had kept it from before.
    ///
    /// Source: MQTT 5.0, 3.3.1.3, RETAIN.
    package var isRetained: Bool
    /// How long the broker keeps it, and what nobody has fetched by then; in whole seconds, nil for ever.
    ///
    /// Source: MQTT 5.0, 3.3.2.3.3, Message Expiry Interval.
    package var expiry: Duration?

    package init(topic: String, payload: [UInt8], isRetained: Bool = false, expiry: Duration? = nil) {
        (self.topic, self.payload, self.isRetained, self.expiry) = (topic, payload, isRetained, expiry)
    }
}

/// What a broker says when a connection ended without a word.
///
/// Source: MQTT 5.0, 3.1.2.5, Will Flag.
package struct BrokerWill: Hashable, Sendable {
    package var message: BrokerMessage
    /// So long the broker waits whether the client comes back; in whole seconds. Source: MQTT 5.0, 3.1.3.2.2, Will Delay Interval.
    package var delay: Duration

    package init(_ message: BrokerMessage, delay: Duration) {
        (self.message, self.delay) = (message, delay)
    }
}
