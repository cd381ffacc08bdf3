import ServerTrust

/// What a server has shown.
struct ShownServer: Sendable {
    /// Its certificates, to be judged.
    var trust: ServerTrust
    /// For example `1.3`; nil if the handshake did not come to its end: the certificates were shown before.
    let version: String?
}
