/// A way to brokers of MQTT 5, or of 3.1.1 where that is asked for. It knows nothing of what is said over them.
///
/// It is a small seam, so that another client, or none for tests, can take the place of libmosquitto. Who uses it decides when to
/// connect: a connection that is over stays over, and nothing is tried again.
///
/// Source: MQTT Version 5.0, OASIS Standard, 7 March 2019.
package protocol MessageBroker: Sendable {
    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - options: Where to, and as whom.
    ///   - listener: Called for each event, in order, on a thread of the connection's own. It must not wait. The last event is
    ///     ``BrokerEvent/ended(_:)``, which comes once, whatever happened.
    func connect(_ options: BrokerOptions, listener: @escaping @Sendable (BrokerEvent) -> Void) -> any BrokerConnection
}

/// One connection to a broker, from its first attempt to its end. Thread-safe; nothing waits.
package protocol BrokerConnection: Sendable {
    /// Sends a message with QoS 1: ``BrokerEvent/published(_:_:)`` tells that the broker has it. One that is handed over before the broker
    /// has accepted the connection is sent then; one whose acknowledgement had not come when the connection ended is the caller's to send
    /// again.
    ///
    /// - Returns: What its acknowledgement is known by, another for each message of this connection.
    @discardableResult
    func publish(_ message: BrokerMessage) -> PublishToken

    /// Asks for the messages of topics with QoS 1, or says so with ``BrokerEvent/ended(_:)``, where the broker refuses.
    ///
    /// - Parameter filters: With the wildcards `+` and `#` of MQTT.
    func subscribe(_ filters: [String])

    /// Ends it in order: the broker sends no will. What was published before is sent before.
    func close()

    /// Lets go of it as it is, where the broker does not answer: for the broker the connection breaks, and it sends the will.
    func abandon()
}

/// What the acknowledgement of a message is known by, within one connection.
package struct PublishToken: Hashable, Sendable {
    package let number: UInt64

    package init(_ number: UInt64) {
        self.number = number
    }
}

/// What happens on a connection.
package enum BrokerEvent: Hashable, Sendable {
    /// The broker has accepted it.
    ///
    /// - Parameter sessionPresent: Whether the broker kept the session of the client's last connection, with its subscriptions and what was
    ///   sent to it meanwhile. Source: MQTT 5.0, 3.2.2.1.1, Session Present.
    case connected(sessionPresent: Bool)
    /// The broker answered for a message: it has it, unless the code says that it refused it.
    case published(PublishToken, ReasonCode)
    case subscribed
    case message(BrokerMessage)
    /// Nothing more comes. Nil where ``BrokerConnection/close()`` ended it.
    case ended(BrokerError?)
}
