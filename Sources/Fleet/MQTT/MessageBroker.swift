package import LinuxSupport

/// An MQTT 5 or 3.1.1 client library. It does not interpret messages.
///
/// The protocol allows another library, or a fake in tests, to replace libmosquitto. The caller decides when to
/// connect. The library does not reconnect: a connection that has ended stays closed.
///
/// Source: MQTT Version 5.0, OASIS Standard, 7 March 2019.
package protocol MessageBroker: Sendable {
    /// Starts to connect. Returns without waiting.
    ///
    /// - Parameters:
    ///   - options: The settings of the connection, such as the address and the client identifier.
    ///   - listener: The receiver of the events of the connection. It is called for one event after another, on a
    ///     thread of the connection, and must not block. The last event is always ``BrokerEvent/ended(_:)``, which occurs exactly
    ///     once.
    func connect(_ options: BrokerOptions, listener: @escaping @Sendable (BrokerEvent) -> Void) -> any BrokerConnection
}

/// One connection to a broker, from its first attempt to its end. Thread-safe. No method blocks.
package protocol BrokerConnection: Sendable {
    /// Sends a message with QoS 1. ``BrokerEvent/published(_:_:)`` reports the acknowledgement of the broker. A message
    /// that is passed before the broker has accepted the connection is sent after that. If the connection ends before
    /// the acknowledgement, the caller has to send the message again on a new connection.
    ///
    /// - Returns: The token of the acknowledgement, unique within the connection.
    @discardableResult
    func publish(_ message: BrokerMessage) -> PublishToken

    /// Subscribes to topics with QoS 1. The event ``BrokerEvent/subscribed`` reports success. If the broker refuses,
    /// the connection ends with ``BrokerEvent/ended(_:)``.
    ///
    /// - Parameter filters: Topic filters, with the wildcards `+` and `#` of MQTT.
    func subscribe(_ filters: [String])

    /// Sends all pending messages and then disconnects. The broker does not publish the will.
    func close()

    /// Drops the connection immediately, for a broker that does not answer. The broker sees a lost connection and
    /// publishes the will.
    func abandon()
}

/// The identifier of a message within one connection.
package struct PublishToken: Hashable, Sendable {
    package let number: UInt64

    package init(_ number: UInt64) {
        self.number = number
    }
}

/// An event of a connection.
package enum BrokerEvent: Hashable, Sendable {
    /// The broker has accepted the connection.
    ///
    /// - Parameter sessionPresent: True if the broker has kept the session of the client's last connection, with the
    ///   subscriptions and the messages that arrived in the meantime. Source: MQTT 5.0, 3.2.2.1.1, Session Present.
    case connected(sessionPresent: Bool)
    /// The broker has answered a published message. The broker has taken the message unless the code is a refusal.
    case published(PublishToken, ReasonCode)
    case subscribed
    case message(BrokerMessage)
    /// The connection has ended. No further event follows. Nil after ``BrokerConnection/close()`` or
    /// ``BrokerConnection/abandon()``.
    case ended(BrokerError?)
}

/// A message to or from a broker.
package struct BrokerMessage: Hashable, Sendable {
    package var topic: String
    package var payload: [UInt8]
    /// True if the broker keeps the message for later subscribers. For a received message, true if the broker had kept
    /// it.
    ///
    /// Source: MQTT 5.0, 3.3.1.3, RETAIN.
    package var isRetained: Bool
    /// The time for which the broker keeps the message, in whole seconds. If nil, the message does not expire.
    ///
    /// Source: MQTT 5.0, 3.3.2.3.3, Message Expiry Interval.
    package var expiry: Duration?

    package init(topic: String, payload: [UInt8], isRetained: Bool = false, expiry: Duration? = nil) {
        (self.topic, self.payload, self.isRetained, self.expiry) = (topic, payload, isRetained, expiry)
    }
}

/// A message that a broker publishes when the connection of a client ends without a DISCONNECT packet.
///
/// Source: MQTT 5.0, 3.1.2.5, Will Flag.
package struct BrokerWill: Hashable, Sendable {
    package var message: BrokerMessage
    /// The time that the broker waits for a new connection before it publishes the will, in whole seconds. Source: MQTT
    /// 5.0, 3.1.3.2.2, Will Delay Interval.
    package var delay: Duration

    package init(_ message: BrokerMessage, delay: Duration) {
        (self.message, self.delay) = (message, delay)
    }
}

/// The settings of a connection.
package struct BrokerOptions: Hashable, Sendable {
    /// Paths of PEM files. The files are read for each connection, so renewed files take effect at the next connection.
    package struct TLS: Hashable, Sendable {
        /// The authorities trusted to sign the broker's certificate. If nil, those of `/etc/ssl/certs`.
        package var authority: String?
        /// The certificate of the client, followed by its intermediate certificates.
        package var certificate: String?
        /// The private key of the client's certificate.
        package var key: String?

        package init(authority: String? = nil, certificate: String? = nil, key: String? = nil) {
            (self.authority, self.certificate, self.key) = (authority, certificate, key)
        }
    }

    /// A user name and its password.
    package struct Login: Hashable, Sendable {
        package var user: String
        /// The path of a file whose first line is the password. The file is read for each connection.
        package var passwordFile: String

        package init(user: String, passwordFile: String) {
            (self.user, self.passwordFile) = (user, passwordFile)
        }
    }

    package var address: BrokerAddress
    /// Nil to connect without a user name.
    package var login: Login?
    /// The TLS files. Used only if the address requires TLS.
    package var tls = TLS()
    /// The client identifier. A broker ends the older of two connections with the same identifier.
    package var client: String
    /// The keep-alive interval, in whole seconds, at least 5. After this time without traffic the client sends a ping.
    /// The broker closes the connection after one and a half intervals without a packet from the client. The client
    /// closes it after at most two intervals without an answer.
    package var keepAlive = Duration.seconds(60)
    /// The time for which the broker keeps the session after the connection has ended. Zero ends the session with the
    /// connection.
    ///
    /// Source: MQTT 5.0, 3.1.2.11.2, Session Expiry Interval.
    package var sessionExpiry = Duration.zero
    package var will: BrokerWill?
    package var version = ProtocolVersion.five

    package init(address: BrokerAddress, client: String) {
        (self.address, self.client) = (address, client)
    }
}

/// A reason code of a broker. Codes from 0x80 are refusals. The standard may add codes, so the type is not an
/// enumeration.
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

    /// Converts a return code of MQTT 3.1.1 into the reason code of MQTT 5.
    ///
    /// Source: MQTT 3.1.1, 3.2.2.3, Connect Return code.
    package init(returnCode: UInt8) {
        let reasons: [ReasonCode] = [
            .success, .unsupportedProtocolVersion, .clientIdentifierNotValid, .serverUnavailable,
            .badUserNameOrPassword, .notAuthorized,
        ]
        self = reasons.indices.contains(Int(returnCode)) ? reasons[Int(returnCode)] : .unspecifiedError
    }

    /// The name of the code in the standard, in lower case.
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

/// The error that ended a connection or an attempt. The description contains the text of the system or the broker, and
/// a hint.
package struct BrokerError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Cause: Hashable, Sendable {
        /// The host name cannot be resolved. The text is the error of the name service.
        case unknownHost(String)
        /// No address of the broker accepts a TCP connection.
        case unreachable(SystemError)
        /// A TLS file cannot be used. The text is the error of the TLS library.
        case unusableFiles(String)
        /// The broker's certificate is not trusted. The text is the error of the TLS library.
        case untrusted(String)
        /// The broker's certificate is trusted, but is for another name.
        case wrongName
        /// The broker has rejected the TLS handshake, with an alert or by closing the connection. A common reason is
        /// the client's certificate.
        case handshake(String)
        /// The broker has refused the MQTT connection.
        case refused(ReasonCode)
        /// The broker has refused a subscription.
        case subscriptionRefused(ReasonCode)
        /// The broker has ended the connection for this reason.
        case ended(ReasonCode)
        /// The connection has broken.
        case lost
        /// Several connections ended soon after they were accepted. Another client probably uses the same client
        /// identifier. The option is the one that sets the identifier.
        case nameConflict(String, option: String)
        /// The broker has not answered before the timeout.
        case silent
        /// The broker does not use MQTT, or the library failed for another reason.
        case failed(String)
    }

    package let address: BrokerAddress
    package let cause: Cause

    package init(_ address: BrokerAddress, _ cause: Cause) {
        (self.address, self.cause) = (address, cause)
    }

    package var description: String {
        switch cause {
        case .unknownHost(let text): "cannot connect to \(place): host name not found: \(text.printable)"
        case .unreachable(let error):
            "cannot connect to \(place): \(error); is the broker running and listening on this address?"
        case .unusableFiles(let text):
            "cannot use TLS with \(place): \(text.printable); check the files of --authority, --certificate and --key"
        case .untrusted(let text):
            "cannot trust \(place): \(text.printable); the certificate is expired or not signed by an "
                + "authority of --authority; run `reachability trust \(target)` for details"
        case .wrongName:
            "cannot trust \(place): its certificate is for another name; connect with a name in the certificate"
        case .handshake(let text):
            "cannot use TLS with \(place): \(text.printable); check that it uses TLS and trusts --certificate"
        case .refused(let reason): "cannot connect to \(place): \(reason); \(Self.advice(reason))"
        case .subscriptionRefused(let reason):
            "cannot subscribe at \(place): \(reason); check the broker's access control list"
        case .ended(.sessionTakenOver):
            "\(place) ended the connection: session taken over; another client connects with the same name"
        case .ended(let reason): "\(place) ended the connection: \(reason)"
        case .nameConflict(let name, let option):
            "cannot stay connected to \(place): each connection ends soon after it was accepted; another client "
                + "probably connects as \(name.printable) too; set a unique name with \(option)"
        case .lost: "the connection to \(place) was lost"
        case .silent: "\(place) does not answer"
        case .failed(let text): "the connection to \(place) failed: \(text.printable)"
        }
    }

    private var place: String { "the broker \(address.description.printable)" }

    /// The address as a `HOST:PORT` argument of `reachability trust`.
    private var target: String { address.description.printable.split(at: "/").last.map(String.init) ?? "" }

    private static func advice(_ reason: ReasonCode) -> String {
        switch reason {
        case .badUserNameOrPassword, .notAuthorized, .banned:
            "check the client's certificate or password, and its permissions at the broker"
        case .unsupportedProtocolVersion: "the broker must support MQTT 5 or 3.1.1"
        default: "check the broker's log"
        }
    }
}
