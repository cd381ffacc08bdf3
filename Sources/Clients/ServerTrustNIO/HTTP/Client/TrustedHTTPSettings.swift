/// Limits of each request, and what stands in its way.
public struct TrustedHTTPSettings: Hashable, Sendable {
    /// What is done about answers that redirect: 301, 302, 303, 307 and 308 with a `Location` (RFC 9110, 15.4).
    public enum Redirects: Hashable, Sendable {
        /// Such an answer is an answer like others.
        case refused
        /// So many are followed, one after the other. Never from `https` to `http`. To another scheme, host or port `Authorization`,
        /// `Cookie`, `Proxy-Authorization` and a `Host` of yours are not sent, and not again afterwards. 303, and 301 or 302 after
        /// POST, turn into GET without a body.
        case follow(maximum: Int)
    }

    /// From the call to the last byte, redirects and all.
    public var timeLimit: Duration = .seconds(30)

    /// For one connection: from looking up the host to the connection, whichever of its addresses takes it.
    public var connectTimeLimit: Duration = .seconds(10)

    /// The most bytes of names and values of the header fields of one answer, trailers included. There are never more than 256 fields.
    public var maximumHeaderBytes = 64 << 10

    /// The most bytes of a body. A body with one more is refused without reading on.
    public var maximumBodyBytes = 1 << 20

    /// Not followed unless told otherwise.
    public var redirects = Redirects.refused

    /// Whom to ask in the place of the servers; nil for nobody. The variables of the environment are not read.
    public var proxy: HTTPProxy?

    /// Whether an answer is over with its head: its body is not waited for, however it ends.
    package var endsWithHead = false

    /// Whether connections to loopback, link-local and multicast addresses are made. The proxy's address is not looked at.
    var allowsLocalAddresses = true

    /// All at their defaults.
    public init() {}
}
