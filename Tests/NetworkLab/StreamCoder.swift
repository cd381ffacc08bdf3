/// A layer between a TCP connection and the plain bytes of a ``ScriptedServer``: TLS, which `WebLab` implements. This module needs no
/// TLS library, and so neither do tests that use it alone.
///
/// The thread of the connection creates it and is the only one that uses it.
package protocol StreamCoder: AnyObject {
    /// Whether the handshake is complete.
    var isReady: Bool { get }
    /// Whether the peer has closed the layer, or an error has.
    var isClosed: Bool { get }
    /// The server name that the client requested (RFC 6066, section 3).
    var serverName: String? { get }
    /// Returns the plain bytes in bytes from the peer.
    func decode(_ bytes: [UInt8]) throws -> [UInt8]
    /// Encodes plain bytes for the peer.
    func encode(_ bytes: [UInt8]) throws
    /// Encodes the end of the layer.
    func end()
    /// Returns the encoded bytes since the last call.
    func takeOutput() -> [UInt8]
    /// Releases all resources. The layer cannot be used afterwards.
    func abandon()
}
