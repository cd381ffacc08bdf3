/// Fetches what responders and authorities say, over HTTP. Whoever has an HTTP client can be one. Redirects need not be followed. The
/// URLs are plain `http` nearly always, for the answers are signed; for `https` revocation must not be asked about again, or a
/// question may wait for itself.
public protocol RevocationFetching: Sendable {
    /// The body of the answer with status 200.
    ///
    /// Called on any thread, and by several tasks at once. The limits are checked by the caller too, but only here can they save
    /// anything: reading stops at `sizeLimit`, and waiting at `timeLimit` or when the task is cancelled.
    func fetch(_ request: RevocationRequest) async throws(RevocationFetchError) -> [UInt8]
}
