import LinuxSupport
public import ReachabilityRetry

/// Looks at a whole file before it gets its name. What it throws throws the file away.
public typealias FileValidation = @Sendable (_ path: String) async throws -> Void

/// A request whose answer becomes a file. Until it is whole it is `NAME.part` beside its place; so there is never a part of a file in the
/// place. It is one exchange: begun when it is made (``Session/startRequestsImmediately``), and cancelled when the last task that waits for it
/// is.
///
/// A download that is interrupted, or whose process ends, is gone on with by the next one to the same place from the same URL, where the
/// server tells versions of the file apart (a strong ETag). It fails when nothing more comes, and not because it takes long.
public final class DownloadRequest: ValidatedRequest {
    /// The request, with the session's header fields.
    public let request: OutgoingRequest
    /// The path of the file.
    public let destination: String

    private let checks: Locked<Validator>
    private let fileChecks: Locked<[FileValidation]>
    private let exchange: Exchange<Answer>
    private let feed = ProgressFeed(DownloadProgress(completed: 0, total: nil))

    init(
        _ request: OutgoingRequest,
        to destination: String,
        replacing: Bool,
        isResuming: Bool,
        in session: Session,
        _ interceptor: (any RequestInterceptor)?
    ) {
        let request = request.adding(session.headers)
        let checks = Locked(Validator())
        let fileChecks = Locked<[FileValidation]>([])
        (self.request, self.destination, self.checks, self.fileChecks) = (request, destination, checks, fileChecks)
        let cancelled = Answer(error: .explicitlyCancelled)
        exchange = Exchange(cancelled: cancelled, endsWithWork: true) { [feed] in
            defer { feed.finish() }
            do throws(RequestError) {
                try Self.check(destination, replacing: replacing)
                let partial = try PartialDownload(destination, url: request.url, isResuming: isResuming) { progress in
                    feed.change { $0 = progress }
                }
                return await session.download(
                    request,
                    checks,
                    interceptor,
                    partial,
                    fileChecks,
                    replacing: replacing
                )
            } catch {
                return Answer(error: error)
            }
        }
        // In a task that is cancelled there is nobody to send it for.
        if session.startRequestsImmediately, !Task.isCancelled { exchange.start() }
    }

    /// Begins it, if that was not done.
    @discardableResult
    public func resume() -> DownloadRequest {
        exchange.start()
        return self
    }

    /// Whether a file can have this name, before anything is sent for it. A folder or a device is never replaced.
    private static func check(_ destination: String, replacing: Bool) throws(RequestError) {
        let name = destination.split(at: "/", omittingEmptySubsequences: false).last ?? ""
        if ["", ".", ".."].contains(name) || destination.utf8.contains(0) {
            throw .downloadedFileWriteFailed(error: SystemError.invalidArgument, path: destination)
        }
        guard FileName.isTaken(destination) else { return }
        if !replacing || FileName.size(of: destination) == nil { throw .fileExists(path: destination) }
    }

    /// The head of the answer; nil before the end, and if there was none.
    public var response: ResponseHead? { exchange.result?.response }

    /// Waits for the end.
    public func response() async -> DownloadResponse {
        let answer = await exchange.value()
        if exchange.result != nil { feed.finish() }
        return DownloadResponse(
            request: request,
            response: answer.response,
            metrics: answer.metrics,
            result: answer.error.map { .failure($0) } ?? .success(destination)
        )
    }

    /// Waits for the file.
    ///
    /// - Returns: Its path.
    @discardableResult
    public func file() async throws(RequestError) -> String { try await response().result.get() }

    /// How much is here, and each change until the end. A slow reader gets the newest alone. It begins nothing.
    public var progress: AsyncStream<DownloadProgress> { feed.progress }

    /// Ends it, if it has not ended. What is here stays, if it can be gone on with.
    @discardableResult
    public func cancel() -> DownloadRequest {
        exchange.cancel()
        if exchange.result != nil { feed.finish() }
        return self
    }

    /// Adds to the checks of its answer, which are asked without the body. A status beside 200 to 299 is never a file.
    @discardableResult
    public func checking(_ change: (inout Validator) -> Void) -> DownloadRequest {
        checks.withLock { change(&$0) }
        return self
    }

    /// Has the closure look at the whole file, which has not its name yet: its digest, for example. What it throws is the error
    /// (``RequestError/ResponseValidationFailureReason/customValidationFailed(error:)``), and throws the file away.
    @discardableResult
    public func validateFile(_ check: @escaping FileValidation) -> DownloadRequest {
        fileChecks.withLock { $0.append(check) }
        return self
    }
}

extension Session {
    /// A download of a file. It is begun at once, unless the session says otherwise.
    ///
    /// - Parameters:
    ///   - url: The URL as text.
    ///   - destination: The path of the file.
    ///   - replacing: Whether a file that is there is replaced; else that is an error.
    ///   - isResuming: Whether a part that is here is gone on with.
    ///   - headers: Its own header fields.
    ///   - interceptor: Asked before the session's own.
    @discardableResult
    public func download(
        _ url: String,
        to destination: String,
        replacing: Bool = false,
        resuming isResuming: Bool = true,
        headers: HTTPHeaders = HTTPHeaders(),
        interceptor: (any RequestInterceptor)? = nil
    ) -> DownloadRequest {
        DownloadRequest(
            OutgoingRequest(url: url, headers: headers),
            to: destination,
            replacing: replacing,
            isResuming: isResuming,
            in: self,
            interceptor
        )
    }
}
