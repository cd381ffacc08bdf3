/// The method of a request (RFC 9110, section 9). Methods are case-sensitive, and any name is possible.
public struct RequestMethod: RawRepresentable, Hashable, Sendable {
    /// The name as it is sent.
    public let rawValue: String

    /// Takes any name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// CONNECT
    public static let connect = RequestMethod(rawValue: "CONNECT")
    /// DELETE
    public static let delete = RequestMethod(rawValue: "DELETE")
    /// GET
    public static let get = RequestMethod(rawValue: "GET")
    /// HEAD
    public static let head = RequestMethod(rawValue: "HEAD")
    /// OPTIONS
    public static let options = RequestMethod(rawValue: "OPTIONS")
    /// PATCH (RFC 5789)
    public static let patch = RequestMethod(rawValue: "PATCH")
    /// POST
    public static let post = RequestMethod(rawValue: "POST")
    /// PUT
    public static let put = RequestMethod(rawValue: "PUT")
    /// TRACE
    public static let trace = RequestMethod(rawValue: "TRACE")

    /// Whether the method is idempotent (RFC 9110, section 9.2.2): PUT, DELETE and the safe methods. An unknown method is not.
    public var isIdempotent: Bool { Self.idempotent.contains(self) }

    private static let idempotent: Set<RequestMethod> = [.get, .head, .options, .trace, .put, .delete]
}

extension RequestMethod: CustomStringConvertible {
    /// The name.
    public var description: String { rawValue }
}
