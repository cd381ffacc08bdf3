/// The oldest version of TLS a client speaks. The newest that both sides know is taken; anything before 1.2 is refused always
/// (RFC 8996).
public enum TLSMinimumVersion: String, Hashable, Sendable, CaseIterable {
    /// TLS 1.2 (RFC 5246).
    case tls12 = "1.2"
    /// TLS 1.3 (RFC 8446).
    case tls13 = "1.3"
}
