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

extension Session {
    /// Asks for the rest again and again, as long as something more came each time.
    func download(
        _ request: OutgoingRequest,
        _ checks: Locked<Validator>,
        _ interceptor: (any RequestInterceptor)?,
        _ partial: PartialDownload,
        _ fileChecks: Locked<[FileValidation]>,
        replacing: Bool
    ) async -> Answer {
        let began = ContinuousClock.now
        defer { partial.leave() }
        var attempts: [RetryAttempt] = []
        var hasStartedOver = false
        var answer: Answer
        while true {
            let size = partial.size
            answer = await send(partial.askForRest(in: request), checks, interceptor, into: partial)
            attempts += answer.metrics.attempts
            if Task.isCancelled { answer.error = .explicitlyCancelled }
            do throws(RequestError) {
                guard let error = answer.error else {
                    for check in fileChecks.withLock({ $0 }) { try await partial.check(by: check) }
                    try partial.check(answer, of: request, by: checks.withLock { $0 })
                    if Task.isCancelled { throw .explicitlyCancelled }
                    try partial.finish(replacing: replacing)
                    break
                }
                if case .downloadInterrupted(let cause) = error,
                    case .startOver(let reason) = cause as? DownloadFailure,
                    !hasStartedOver
                {
                    hasStartedOver = true
                    try partial.startOver(because: reason)
                } else if !(error.mayGoOn && partial.isResumable && partial.size > size) {
                    break
                }
            } catch {
                answer.error = error
                break
            }
        }
        answer.metrics.attempts = attempts
        answer.metrics.receivedBytes = partial.received
        answer.metrics.duration = began.duration(to: .now)
        return answer
    }
}

extension RequestError {
    /// Whether the rest may come when it is asked for.
    fileprivate var mayGoOn: Bool {
        switch self {
        case .sessionTaskFailed: true
        case .downloadInterrupted(let cause): (cause as? DownloadFailure)?.mayGoOn == true
        default: false
        }
    }
}

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

/// What a server did that makes no file.
enum DownloadFailure: Error, CustomStringConvertible {
    case brokenOff(any Error)
    case tooLong(Int64)
    case tooShort(Int64, of: Int64)
    case unexpectedPart
    case startOver(String)

    var description: String {
        switch self {
        case .brokenOff(let error): "the connection broke off: \(error)"
        case .tooLong(let total): "the server promised \(total) bytes and sends more"
        case .tooShort(let size, let total): "the server promised \(total) bytes and ended after \(size)"
        case .unexpectedPart: "the server sends a part of the file where all of it was asked for"
        case .startOver(let reason): "what is here cannot be gone on with: \(reason)"
        }
    }
}

extension DownloadFailure {
    /// Whether the rest may come when it is asked for.
    var mayGoOn: Bool {
        switch self {
        case .brokenOff, .tooShort: true
        case .tooLong, .unexpectedPart, .startOver: false
        }
    }
}
