/// What a responder says that does not want to answer (OCSPResponseStatus, RFC 6960, 4.2.1).
public struct OCSPRefusal: RawRepresentable, Hashable, Sendable {
    /// The number of OCSPResponseStatus.
    public let rawValue: Int

    /// The status with this number.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// It did not understand the request.
    public static let malformedRequest = OCSPRefusal(rawValue: 1)
    /// Something is wrong with it.
    public static let internalError = OCSPRefusal(rawValue: 2)
    /// Not now.
    public static let tryLater = OCSPRefusal(rawValue: 3)
    /// It wants signed requests.
    public static let sigRequired = OCSPRefusal(rawValue: 5)
    /// Not to us, or it has no answer ready (RFC 5019, 2.2.3).
    public static let unauthorized = OCSPRefusal(rawValue: 6)
}

extension OCSPRefusal: CustomStringConvertible {
    /// The name in RFC 6960, or `status 42`.
    public var description: String {
        switch self {
        case .malformedRequest: "malformedRequest"
        case .internalError: "internalError"
        case .tryLater: "tryLater"
        case .sigRequired: "sigRequired"
        case .unauthorized: "unauthorized"
        default: "status \(rawValue)"
        }
    }
}
