import ServerTrust

/// A proxy of HTTP that is reached without TLS. For `https` it is asked for a tunnel (CONNECT, RFC 9110, 9.3.6), within which the server
/// itself is judged; requests for plain `http` are sent to it whole (RFC 9112, 3.2.2), so it can read and change them.
public struct HTTPProxy: Hashable, Sendable {
    /// Its name or address.
    public var host: String

    /// Its port.
    public var port: Int

    /// `Proxy-Authorization` (RFC 9110, 11.7.2), see ``basic(user:password:)``; nil for none.
    public var authorization: String?

    /// A proxy that need not know who asks, unless told.
    public init(host: String, port: Int, authorization: String? = nil) {
        self.host = host
        self.port = port
        self.authorization = authorization
    }

    /// Name and password as they are sent (RFC 7617): whoever hears the way to the proxy can read them.
    public static func basic(user: String, password: String) -> String {
        "Basic \(Base64.encode(Array("\(user):\(password)".utf8)))"
    }
}
