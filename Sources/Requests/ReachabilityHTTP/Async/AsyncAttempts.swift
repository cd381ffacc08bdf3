import AsyncHTTPClient
import LinuxPrimitives
import Logging
import NIOCore
import NIOHTTP1
import ReachabilityRetry

/// The attempts of one request in the client's asynchronous form.
///
/// That form does not tell when a request is sent, or redirected. So a request without a body is sent with a delegate, which is told. One
/// with a body shows that it was sent as its body is begun; a delegate is no way for it, for over HTTP/2 the client (1.37) crashes where
/// the answer is there before the whole body was handed over from thread to thread.
///
/// | Body | Attempt | Is known |
/// |---|---|---|
/// | none | with a delegate | when it is sent, each hop |
/// | in memory, a stream | asynchronous | when its body is begun |
/// | in memory, and long or after a cut attempt | with a delegate, in the thread of a connection of its own | when it is sent, each hop |
/// | none or such a one, and a `localAddress`, which only the asynchronous form has | asynchronous | nothing: it counts as sent |
final class AsyncAttempts: Sendable {
    private let client: HTTPClient
    private let request: HTTPClientRequest
    private let timeout: Duration?
    private let makeBody: (@Sendable () throws -> HTTPClientRequest.Body)?
    private let logger: Logger?
    private let delegated: DelegateAttempts<AnswerDelegate>
    /// Whether any attempt has asked for the body.
    private let hasBegunBody = Locked(false)

    /// - Parameters:
    ///   - client: What sends them.
    ///   - request: The request as the caller made it.
    ///   - parsed: The same, without a body.
    ///   - timeout: How long one may take until its answer begins.
    ///   - makeBody: Makes the body for each attempt.
    ///   - logger: The client's logger.
    init(
        client: HTTPClient,
        request: HTTPClientRequest,
        parsed: HTTPClient.Request,
        timeout: Duration?,
        makeBody: (@Sendable () throws -> HTTPClientRequest.Body)?,
        logger: Logger?
    ) {
        self.client = client
        self.request = request
        self.timeout = timeout
        self.makeBody = makeBody
        self.logger = logger
        var parsed = parsed
        parsed.tlsConfiguration = request.tlsConfiguration
        delegated = DelegateAttempts(
            client: client,
            request: parsed,
            statuses: nil,
            timeout: timeout,
            isBodyOnce: false,
            makeBody: nil,
            eventLoop: nil,
            logger: logger,
            makeDelegate: { _ in AnswerDelegate() }
        )
    }

    /// Whether the body was begun by an attempt that failed so, and cannot be sent again.
    func hasLostBody(after error: any Error) -> Bool {
        makeBody == nil && request.body?.isReplayable == false && hasBegunBody.withLock { $0 }
    }

    /// Sends the adapted request, and returns when its answer begins.
    func attempt(_ plain: PlainRequest, _ progress: AttemptProgress) async throws -> HTTPClientResponse {
        var request = request.adapted(to: plain)
        if let makeBody { request.body = try AdapterFailure.wrapping(makeBody) }
        let hasDelegate = request.localAddress == nil
        guard let body = request.body, body.length != 0 else {
            guard hasDelegate else { return try await unwatched(request, progress) }
            return try await delegated.attempt(plain, progress).value.open()
        }
        let isLong = body.isReplayable && (body.length ?? .max) > HTTPClientRequest.Body.watchedBytes
        guard isLong || (body.isReplayable && progress.cuts > 0 && hasDelegate) else {
            request.body = try await body.watched { [hasBegunBody] in
                hasBegunBody.withLock { $0 = true }
                progress.send()
            }
            return try await send(request, progress)
        }
        guard hasDelegate else { return try await unwatched(request, progress) }
        let whole = HTTPClient.Body.byteBuffer(try await body.inMemory())
        return try await delegated.attempt(plain, progress, writing: whole, isApart: true).value.open()
    }

    /// Of such an attempt nothing is known: so it is not cut, and one that must not be repeated is not.
    private func unwatched(_ request: HTTPClientRequest, _ progress: AttemptProgress) async throws -> HTTPClientResponse
    {
        progress.send()
        return try await send(request, progress)
    }

    private func send(_ request: HTTPClientRequest, _ progress: AttemptProgress) async throws -> HTTPClientResponse {
        do {
            let response = try await client.execute(request, deadline: NIODeadline(after: timeout), logger: logger)
            if response.history.count > 1 { progress.redirect() }
            return response
        } catch let error as any RetryableError where progress.hasSent && error.failureStage == .neverSent {
            // It is a later hop that was not reached, or that has refused it.
            throw SentRequest(cause: error)
        }
    }
}

extension DelegateAnswer<AnswerDelegate> {
    /// The answer, whose body is read from now on.
    fileprivate func open() -> HTTPClientResponse {
        guard case .held(let task, let delegate) = self, let head = delegate.head else { return HTTPClientResponse() }
        let body = delegate.inner.takeBody(of: task)
        return HTTPClientResponse(
            version: head.version,
            status: head.status,
            headers: head.headers,
            body: body,
            history: delegate.visits
        )
    }
}

extension HTTPClientRequest {
    /// As adapters see it.
    var plain: PlainRequest { PlainRequest(method: method, url: url, headers: headers) }

    /// The request as an adapter wants it.
    func adapted(to plain: PlainRequest) -> HTTPClientRequest {
        var request = self
        request.url = plain.url
        request.method = HTTPMethod(rawValue: plain.method.rawValue)
        request.headers = plain.headers
        return request
    }
}

extension NIODeadline {
    /// A time from now on; nil is for ever.
    init(after duration: Duration?) {
        self = duration.map { .now() + TimeAmount($0) } ?? .distantFuture
    }
}
