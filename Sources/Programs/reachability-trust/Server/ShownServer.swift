import ServerTrust

/// What a server has shown in a finished handshake, which proves that it has the key of its certificate.
struct ShownServer: Sendable {
    /// Its certificates, to be judged.
    var trust: ServerTrust
    /// For example `1.3`.
    let version: String
}
