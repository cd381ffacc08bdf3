public import NIOSSL
public import ServerTrust

/// A finished handshake with a server that is trusted.
public struct TrustedHandshake: Sendable {
    /// Whom the connection is for, as it was asked for.
    public let host: String

    /// What was agreed on with ALPN (RFC 7301); nil if nothing was.
    public let applicationProtocol: String?

    /// The version of TLS; nil if the TLS library does not tell.
    public let version: TLSVersion?

    /// What the server has shown, as it was judged.
    public let trust: ServerTrust
}
