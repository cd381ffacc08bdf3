package import LinuxSupport

/// A client of MQTT 5 or 3.1.1. It does not interpret messages.
///
/// It is a small seam, so that another client, or none for tests, can take the place of libmosquitto. Who uses it decides when to
/// connect: a connection that is over stays over, and nothing is tried again.
///
/// Source: MQTT Version 5.0, OASIS Standard, 7 March 2019.
package protocol MessageBroker: Sendable {
    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - options: The address and the name of the client.
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

    /// Ends the connection without a will, after all pending messages are sent.
    func close()

    /// Lets go of it as it is, where the broker does not answer: for the broker the connection breaks, and it sends the will.
    func abandon()
}

/// The identifier of a message within one connection.
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

/// A message to or from a broker.
package struct BrokerMessage: Hashable, Sendable {
    package var topic: String
    package var payload: [UInt8]
    /// Whether the broker keeps the message for later subscribers, or has kept it.
    ///
    /// Source: MQTT 5.0, 3.3.1.3, RETAIN.
    package var isRetained: Bool
    /// The time for which the broker keeps the message, in whole seconds; nil for ever.
    ///
    /// Source: MQTT 5.0, 3.3.2.3.3, Message Expiry Interval.
    package var expiry: Duration?

    package init(topic: String, payload: [UInt8], isRetained: Bool = false, expiry: Duration? = nil) {
        (self.topic, self.payload, self.isRetained, self.expiry) = (topic, payload, isRetained, expiry)
    }
}

/// The message that a broker publishes after an unexpected end of a connection.
///
/// Source: MQTT 5.0, 3.1.2.5, Will Flag.
package struct BrokerWill: Hashable, Sendable {
    package var message: BrokerMessage
    /// The time for which the broker waits for a new connection, in whole seconds. Source: MQTT 5.0, 3.1.3.2.2, Will Delay Interval.
    package var delay: Duration

    package init(_ message: BrokerMessage, delay: Duration) {
        (self.message, self.delay) = (message, delay)
    }
}

/// The settings of a connection.
package struct BrokerOptions: Hashable, Sendable {
    /// Files in PEM. They are read for each connection, so that renewed ones are used.
    package struct TLS: Hashable, Sendable {
        /// Those who may sign the broker's certificate; nil for the system's, `/etc/ssl/certs`.
        package var authority: String?
        /// The client's own certificate, with those between it and its authority, and its key.
        package var certificate: String?
        package var key: String?

        package init(authority: String? = nil, certificate: String? = nil, key: String? = nil) {
            (self.authority, self.certificate, self.key) = (authority, certificate, key)
        }
    }

    package var address: BrokerAddress
    /// Used where the address says so.
    package var tls = TLS()
    /// The name of the client. A broker ends the older of two connections with one name.
    package var client: String
    /// The silence after which the client asks whether the broker is there, in whole seconds from 5 on. The broker gives the client up after
    /// one and a half of it; the client gives the broker up after at most two.
    package var keepAlive = Duration.seconds(60)
    /// The time for which the broker keeps the session after a connection; zero for a session that ends with the connection.
    ///
    /// Source: MQTT 5.0, 3.1.2.11.2, Session Expiry Interval.
    package var sessionExpiry = Duration.zero
    package var will: BrokerWill?
    package var version = ProtocolVersion.five

    package init(address: BrokerAddress, client: String) {
        (self.address, self.client) = (address, client)
    }
}

/// The answer of a broker. Codes from 0x80 on are refusals. The list is open, like that of the standard.
///
/// Source: MQTT 5.0, 2.4, Reason Code.
package struct ReasonCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let success = ReasonCode(rawValue: 0x00)
    package static let noMatchingSubscribers = ReasonCode(rawValue: 0x10)
    package static let unspecifiedError = ReasonCode(rawValue: 0x80)
    package static let unsupportedProtocolVersion = ReasonCode(rawValue: 0x84)
    package static let clientIdentifierNotValid = ReasonCode(rawValue: 0x85)
    package static let badUserNameOrPassword = ReasonCode(rawValue: 0x86)
    package static let notAuthorized = ReasonCode(rawValue: 0x87)
    package static let serverUnavailable = ReasonCode(rawValue: 0x88)
    package static let serverBusy = ReasonCode(rawValue: 0x89)
    package static let banned = ReasonCode(rawValue: 0x8a)
    package static let serverShuttingDown = ReasonCode(rawValue: 0x8b)
    package static let keepAliveTimeout = ReasonCode(rawValue: 0x8d)
    package static let sessionTakenOver = ReasonCode(rawValue: 0x8e)
    package static let packetTooLarge = ReasonCode(rawValue: 0x95)
    package static let quotaExceeded = ReasonCode(rawValue: 0x97)

    package var isRefusal: Bool { rawValue >= 0x80 }

    /// The code of version 5 for an answer of version 3.1.1.
    ///
    /// Source: MQTT 3.1.1, 3.2.2.3, Connect Return code.
    package init(returnCode: UInt8) {
        let reasons: [ReasonCode] = [
            .success, .unsupportedProtocolVersion, .clientIdentifierNotValid, .serverUnavailable,
            .badUserNameOrPassword, .notAuthorized,
        ]
        self = reasons.indices.contains(Int(returnCode)) ? reasons[Int(returnCode)] : .unspecifiedError
    }

    /// As the standard calls it.
    package var description: String { Self.names[self] ?? "reason code \(rawValue)" }

    private static let names: [ReasonCode: String] = [
        .success: "success", .noMatchingSubscribers: "no matching subscribers", .unspecifiedError: "unspecified error",
        .unsupportedProtocolVersion: "unsupported protocol version",
        .clientIdentifierNotValid: "client identifier not valid",
        .badUserNameOrPassword: "bad user name or password", .notAuthorized: "not authorized",
        .serverUnavailable: "server unavailable", .serverBusy: "server busy", .banned: "banned",
        .serverShuttingDown: "server shutting down", .keepAliveTimeout: "keep alive timeout",
        .sessionTakenOver: "session taken over", .packetTooLarge: "packet too large", .quotaExceeded: "quota exceeded",
    ]
}

/// The reason why a connection ended or failed, with the text of the system or the broker and a hint.
package struct BrokerError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Cause: Hashable, Sendable {
        /// Its name leads nowhere, as the name service says.
        case unknownHost(String)
        /// No server could be reached.
        case unreachable(SystemError)
        /// A file for TLS cannot be used, as the TLS library says.
        case unusableFiles(String)
        /// The broker's certificate is not good, as the TLS library says.
        case untrusted(String)
        /// The certificate is good, but for another name.
        case wrongName
        /// The broker has refused the certificate of the client, with an alert or by ending the handshake.
        case handshake(String)
        /// The broker has refused the connection.
        case refused(ReasonCode)
        /// The broker has refused a subscription.
        case subscriptionRefused(ReasonCode)
        /// The broker has ended the connection, for that reason.
        case ended(ReasonCode)
        /// The connection broke.
        case lost
        /// One connection after the other was lost: another client probably uses the same name. With what gives the client another one.
        case nameConflict(String, option: String)
        /// The broker was silent for too long.
        case silent
        /// What came is no MQTT, or the library cannot go on for another reason.
        case failed(String)
    }

    package let address: BrokerAddress
    package let cause: Cause

    package init(_ address: BrokerAddress, _ cause: Cause) {
        (self.address, self.cause) = (address, cause)
    }

    package var description: String {
        switch cause {
        case .unknownHost(let text): "cannot connect to \(place): its name is not found: \(text.printable)"
        case .unreachable(let error):
            "cannot connect to \(place): \(error): is the broker running, and listening there?"
        case .unusableFiles(let text):
            "cannot speak TLS with \(place): \(text.printable): see the files of --authority, --certificate and --key"
        case .untrusted(let text):
            "cannot trust \(place): \(text.printable): it is expired, or nobody in --authority has signed it; "
                + "`reachability trust \(target)` says which"
        case .wrongName:
            "cannot trust \(place): its certificate is for another name: connect by a name that stands in it"
        case .handshake(let text):
            "\(place) refuses TLS: \(text.printable): see that it speaks TLS, and that --certificate is one it trusts"
        case .refused(let reason): "\(place) refuses the connection: \(reason): \(Self.advice(reason))"
        case .subscriptionRefused(let reason):
            "\(place) refuses the subscription: \(reason): see the broker's access control list"
        case .ended(.sessionTakenOver):
            "\(place) ended the connection: session taken over: another client connects with the same name"
        case .ended(let reason): "\(place) ended the connection: \(reason)"
        case .nameConflict(let name, let option):
            "cannot stay connected to \(place): it ends each connection soon after it accepted it; another client probably "
                + "connects as \(name.printable) too: give each its own name with \(option)"
        case .lost: "the connection to \(place) was lost"
        case .silent: "\(place) does not answer"
        case .failed(let text): "the connection to \(place) failed: \(text.printable)"
        }
    }

    private var place: String { "the broker \(address.description.printable)" }

    /// As `reachability trust` takes it.
    private var target: String { address.description.printable.split(at: "/").last.map(String.init) ?? "" }

    private static func advice(_ reason: ReasonCode) -> String {
        switch reason {
        case .badUserNameOrPassword, .notAuthorized, .banned:
            "see the client's certificate, and what the broker lets it do"
        case .unsupportedProtocolVersion: "it must speak MQTT 5 or 3.1.1"
        default: "see the broker's log"
        }
    }
}
