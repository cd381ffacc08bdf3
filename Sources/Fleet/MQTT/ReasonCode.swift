/// What a broker says to a request: 0x80 and above are refusals. Open-ended, as the standard's own list.
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

    /// What a broker of version 3.1.1 says to a connection, in the words of version 5.
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
