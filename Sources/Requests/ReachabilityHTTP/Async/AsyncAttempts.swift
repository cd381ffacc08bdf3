import AsyncHTTPClient
import LinuxPrimitives
import Logging
import NIOCore
import NIOHTTP1
import ReachabilityRetry

/// The attempts of one request in the client's asynchronous form.
///
/// That form does not tell when a request is sent, nor does it leave redirects alone. So a request is sent with a delegate, which is told,
/// and can end the task at a redirect. But over HTTP/2 the client (1.37) crashes where the answer is there before the whole body was
/// handed over from thread to thread.
///
/// | Body | Attempt | Is known |
/// |---|---|---|
/// | none | with a delegate | when it is sent |
/// | in memory, where the client would follow redirects | with a delegate; where it may be HTTP/2, in the thread of a connection of its own | when it is sent |
/// | in memory, otherwise | asynchronous | when its body is begun |
/// | in memory, and long or after a cut attempt | with a delegate, in the thread of a connection of its own | when it is sent |
/// | a stream | asynchronous: where the client follows redirects, it follows by itself those that make it a GET | when its body is begun |
/// | any, and a `localAddress`, which only the asynchronous form has | asynchronous, with the client's own redirects | when its body is begun; else it counts as sent |
final class AsyncAttempts: Sendable {
    private let client: HTTPClient
    private let settings: ClientSettings
    private let request: HTTPClientRequest
    private let timeout: Duration?
    private let makeBody: (@Sendable () throws -> HTTPClientRequest.Body)?
    private let logger: Logger?
    private let delegated: DelegateAttempts<AnswerDelegate>
    /// Whether any attempt has asked for the body.
    private let hasBegunBody = Locked(false)
    /// What the hops were answered.
    private let history = Locked<[HTTPClientRequestResponse]>([])

    /// - Parameters:
    ///   - client: What sends them.
    ///   - settings: Its settings.
    ///   - request: The request as the caller made it.
    ///   - parsed: The same, without a body.
    ///   - timeout: How long one may take until its answer begins.
    ///   - makeBody: Makes the body for each attempt.
    ///   - logger: The client's logger.
    init(
        client: HTTPClient,
        settings: ClientSettings,
        request: HTTPClientRequest,
        parsed: HTTPClient.Request,
        timeout: Duration?,
        makeBody: (@Sendable () throws -> HTTPClientRequest.Body)?,
        logger: Logger?
    ) {
        self.client = client
        self.settings = settings
        self.request = request
        self.timeout = timeout
        self.makeBody = makeBody
        self.logger = logger
        var parsed = parsed
        parsed.tlsConfiguration = request.tlsConfiguration
        delegated = DelegateAttempts(
            client: client,
            settings: settings,
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

    /// What the request has for a body.
    var bodyKind: RequestBodyKind {
        if makeBody != nil { return .replayable }
        return request.body.map { $0.isReplayable ? .replayable : .once } ?? .none
    }

    /// Sends a hop's adapted request, and returns when its answer begins.
    func attempt(_ hop: RedirectHop, _ progress: AttemptProgress) async throws -> HTTPClientResponse {
        var request = request.adapted(to: hop.request)
        if !hop.hasBody { request.body = nil }
        if hop.hasBody, let makeBody { request.body = try AdapterFailure.wrapping(makeBody) }
        var response = try await answer(to: request, hop, progress)
        // Those of a client that follows redirects by itself are there already.
        let visits = response.history.isEmpty ? [request.answered(response)] : response.history
        response.history = history.withLock { history in
            history = history.prefix(hop.count) + visits
            return history
        }
        return response
    }

    private func answer(
        to request: HTTPClientRequest,
        _ hop: RedirectHop,
        _ progress: AttemptProgress
    ) async throws -> HTTPClientResponse {
        let hasDelegate = request.localAddress == nil
        guard let body = request.body, body.length != 0 else {
            guard hasDelegate else { return try await unwatched(request, hop, progress) }
            return try await delegated.attempt(hop, progress).value.open()
        }
        let isLong = body.isReplayable && (body.length ?? .max) > HTTPClientRequest.Body.watchedBytes
        let isApart = isLong || progress.cuts > 0
        guard body.isReplayable, hasDelegate, isApart || settings.followsRedirects else {
            guard !isLong else { return try await unwatched(request, hop, progress) }
            var request = request
            request.body = try await body.watched(by: client) { [hasBegunBody] in
                hasBegunBody.withLock { $0 = true }
                progress.send()
            }
            return try await send(request, hop, progress)
        }
        let whole = HTTPClient.Body.byteBuffer(try await body.inMemory())
        let mayBeHTTP2 = settings.maySpeakHTTP2 && request.url.lowercased().hasPrefix("https")
        return try await delegated.attempt(hop, progress, writing: whole, isApart: isApart || mayBeHTTP2).value.open()
    }

    /// Of such an attempt nothing is known: so it is not cut, and one that must not be repeated is not.
    private func unwatched(
        _ request: HTTPClientRequest,
        _ hop: RedirectHop,
        _ progress: AttemptProgress
    ) async throws -> HTTPClientResponse {
        progress.send()
        return try await send(request, hop, progress)
    }

    private func send(
        _ request: HTTPClientRequest,
        _ hop: RedirectHop,
        _ progress: AttemptProgress
    ) async throws -> HTTPClientResponse {
        var request = request
        // A client that traces in this form adds its own, which are a part of the attempt's; a server must not be told both.
        if !settings.tracesAsynchronous {
            for field in hop.traceFields { request.headers.replaceOrAdd(name: field.name, value: field.value) }
        }
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
        switch self {
        case .finished: HTTPClientResponse()
        case .held(let task, let delegate): delegate.response(delegate.inner.takeBody(of: task))
        case .redirected(_, let delegate): delegate.response(HTTPClientResponse.Body())
        }
    }
}

extension AttemptDelegate {
    fileprivate func response(_ body: HTTPClientResponse.Body) -> HTTPClientResponse {
        guard let head else { return HTTPClientResponse() }
        return HTTPClientResponse(
            version: head.version,
            status: head.status,
            headers: head.headers,
            body: body,
            history: []
        )
    }
}

extension HTTPClientRequest {
    /// What a hop was answered.
    fileprivate func answered(_ response: HTTPClientResponse) -> HTTPClientRequestResponse {
        let head = HTTPResponseHead(version: response.version, status: response.status, headers: response.headers)
        return HTTPClientRequestResponse(request: self, responseHead: head)
    }

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
