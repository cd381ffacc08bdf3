import AsyncHTTPClient
import FoundationEssentials
import LinuxPrimitives
import Logging
import NIOCore
import NIOHTTP1
import ReachabilityRetry

/// The attempts of one request with delegates.
final class DelegateAttempts<Delegate: HTTPClientResponseDelegate>: Sendable {
    private let client: HTTPClient
    private let request: HTTPClient.Request
    /// Its URL.
    private let url: String
    private let settings: ClientSettings
    private let statuses: Set<Int>?
    private let timeout: Duration?
    private let isBodyOnce: Bool
    private let makeBody: (@Sendable () throws -> HTTPClient.Body)?
    private let eventLoop: HTTPClient.EventLoopPreference?
    private let logger: Logger?
    private let makeDelegate: @Sendable (HTTPClient.Request) throws -> Delegate
    /// Whether any attempt has asked for the body.
    private let hasBegunBody = Locked(false)

    /// - Parameters:
    ///   - client: What sends them.
    ///   - settings: Its settings.
    ///   - request: The request as the caller made it.
    ///   - statuses: The statuses of answers that are held until it is decided what becomes of them; nil where an attempt
    ///     ends when its answer begins.
    ///   - timeout: How long one may take.
    ///   - isBodyOnce: Whether the body can be written only once.
    ///   - makeBody: Makes the body for each attempt.
    ///   - eventLoop: Where delegates are called; nil for anywhere.
    ///   - logger: The client's logger.
    ///   - makeDelegate: Makes the delegate of an attempt.
    init(
        client: HTTPClient,
        settings: ClientSettings,
        request: HTTPClient.Request,
        statuses: Set<Int>?,
        timeout: Duration?,
        isBodyOnce: Bool,
        makeBody: (@Sendable () throws -> HTTPClient.Body)?,
        eventLoop: HTTPClient.EventLoopPreference?,
        logger: Logger?,
        makeDelegate: @escaping @Sendable (HTTPClient.Request) throws -> Delegate
    ) {
        self.client = client
        self.settings = settings
        self.request = request
        url = request.url.absoluteString
        self.statuses = statuses
        self.timeout = timeout
        self.isBodyOnce = isBodyOnce
        self.makeBody = makeBody
        self.eventLoop = eventLoop
        self.logger = logger
        self.makeDelegate = makeDelegate
    }

    /// Whether the body was written by an attempt that failed so, and cannot be written again.
    func hasLostBody(after error: any Error) -> Bool {
        isBodyOnce && hasBegunBody.withLock { $0 }
    }

    /// Sends the adapted request, and returns when its answer is complete, or when one that may be retried has begun.
    ///
    /// - Parameters:
    ///   - hop: The adapted request.
    ///   - progress: Told when it is sent.
    ///   - body: What to write; nil for the request's own body, if it has one.
    ///   - isApart: Whether it has to have a connection of its own, with all done in one thread.
    func attempt(
        _ hop: RedirectHop,
        _ progress: AttemptProgress,
        writing body: HTTPClient.Body? = nil,
        isApart: Bool = false
    ) async throws -> ClientAnswer<DelegateAnswer<Delegate>> {
        var request = try AdapterFailure.wrapping { try adapted(to: hop, body) }
        let inner = try AdapterFailure.wrapping { try makeDelegate(request) }
        let delegate = AttemptDelegate(
            inner,
            holding: statuses,
            // Those of Unix domain sockets, whose URLs only the client knows and which have no host, are its own.
            stopsRedirects: settings.followsRedirects && !request.host.isEmpty,
            progress,
            on: client.eventLoopGroup.any()
        )
        if let body = request.body { request.body = watched(body) }
        let task = client.execute(
            request: request,
            delegate: delegate,
            eventLoop: preference(isApart, after: progress.cuts),
            logger: logger
        )
        // Not the client's own deadline: it can end a request that is just being handed to a connection and is sent all the same.
        let timer = timeout.map { timeout in
            task.eventLoop.scheduleTask(in: TimeAmount(timeout)) { task.fail(reason: HTTPClientError.deadlineExceeded) }
        }
        defer { timer?.cancel() }
        // Whichever comes first, the answer that is held or the end.
        task.futureResult.whenComplete { result in
            switch result {
            case .success: delegate.whenHeld.succeed()
            case .failure(let error): delegate.whenHeld.fail(error)
            }
        }
        do {
            try await withTaskCancellationHandler {
                try await delegate.whenHeld.futureResult.get()
            } onCancel: {
                task.cancel()
            }
            return try await delegate.answer(task)
        } catch let error as HTTPClientError where error == .cancelled && Task.isCancelled {
            if !delegate.hasSent { await settle(task.eventLoop) }
            throw CancellationError()
        } catch  where Self.leavesSendingOpen(error) {
            await settle(task.eventLoop)
            throw delegate.hasSent ? error : UnsentRequest(cause: error)
        }
    }

    /// The body, which tells when it is begun.
    private func watched(_ body: HTTPClient.Body) -> HTTPClient.Body {
        .stream(contentLength: body.contentLength) { [hasBegunBody] writer in
            hasBegunBody.withLock { $0 = true }
            return body.stream(writer)
        }
    }

    /// Where an attempt is made. The connection that one left behind which was cut may still be on its way, or wait for its next try,
    /// and the client would have the next attempt wait for it; but where one wants a certain event loop, it makes a new connection.
    private func preference(_ isApart: Bool, after cuts: Int) -> HTTPClient.EventLoopPreference {
        if let eventLoop { return eventLoop }
        guard isApart || cuts > 0 else { return .indifferent }
        let loops = Array(client.eventLoopGroup.makeIterator())
        return .delegateAndChannel(on: loops[cuts % loops.count])
    }

    /// Whether an error may come before anything was sent, and then be told from one that came after by the delegate alone. Those
    /// of a connection that breaks are not among them: it may break in the very call that writes.
    private static func leavesSendingOpen(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .deadlineExceeded || error == .writeTimeout
        case ChannelError.ioOnClosedChannel: true
        default: false
        }
    }

    /// Waits until a connection that was just taking the request has told the delegate so. It does so on its own event loop, then on
    /// the task's; it may have been handed the request on a third.
    private func settle(_ eventLoop: any EventLoop) async {
        for _ in 0..<2 { await client.settle() }
        try? await eventLoop.submit {}.get()
    }

    private func adapted(to hop: RedirectHop, _ body: HTTPClient.Body?) throws -> HTTPClient.Request {
        let plain = hop.traced
        var adapted = request
        // To read a URL takes longer than all the rest.
        if plain.url != url || plain.method.rawValue != request.method.rawValue {
            adapted = try HTTPClient.Request(
                url: plain.url,
                method: HTTPMethod(rawValue: plain.method.rawValue),
                tlsConfiguration: request.tlsConfiguration
            )
        }
        adapted.headers = plain.headers
        adapted.body = hop.hasBody ? try body ?? makeBody?() ?? request.body : nil
        return adapted
    }
}

extension AttemptDelegate {
    /// The answer of a task that has ended well, or whose answer is held.
    fileprivate func answer(_ task: HTTPClient.Task<Response>) async throws -> ClientAnswer<DelegateAnswer<Inner>> {
        if isRedirected, let head {
            return ClientAnswer(.redirected(task, self), status: head.status, headers: head.headers)
        }
        guard let head else {
            let response = try await task.futureResult.get()
            return ClientAnswer(.finished(response), status: .ok, headers: HTTPHeaders())
        }
        let answer: DelegateAnswer<Inner> =
            endsWithHead(head.status)
            ? .held(task, self) : .finished(try await task.futureResult.get())
        return ClientAnswer(answer, status: head.status, headers: head.headers)
    }
}
