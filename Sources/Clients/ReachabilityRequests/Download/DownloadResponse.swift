/// How much of a file is here.
public struct DownloadProgress: Hashable, Sendable {
    /// How many bytes are written. It becomes less where the download starts over.
    public internal(set) var completed: Int64
    /// How many the whole file has; nil where the server does not say.
    public internal(set) var total: Int64?
    /// Whether nothing is asked for until the network is back.
    public internal(set) var isWaitingForNetwork = false
    /// How often what was here was thrown away, and fetched anew.
    public internal(set) var restarts = 0
    /// Why that was done last, in a few words of ours; nil where it was not done.
    public internal(set) var restartReason: String?
}

/// What came of a download.
public struct DownloadResponse: Sendable {
    /// The request as the caller made it.
    public let request: OutgoingRequest
    /// The last answer; nil where there was none.
    public let response: ResponseHead?
    /// How long it took, and every attempt.
    public let metrics: RequestMetrics
    /// The path of the file, or why there is none.
    public let result: Result<String, RequestError>

    /// Why there is no file; nil where there is one.
    public var error: RequestError? { if case .failure(let error) = result { error } else { nil } }
}
