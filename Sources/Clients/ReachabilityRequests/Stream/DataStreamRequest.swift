import AsyncHTTPClient
import FoundationEssentials
import LinuxSupport
import NIOCore
public import ReachabilityRetry

/// A request whose answer is read as it comes, in pieces, and is kept nowhere. It is sent when the first piece is asked for, and is read by one
/// loop, or by any number of handlers.
///
/// ```swift
/// for try await piece in session.streamRequest("https://example.org/events").validate() { print(piece.count) }
/// ```
///
/// The next piece is read when the one before it was taken; a server that sends faster waits. It is sent again as every request is, until
/// an answer begins; then, never: a reader would get its beginning twice. How long the answer takes does not matter.
public final class DataStreamRequest: ValidatedRequest {
    /// Called with each piece, then once with the completion.
    typealias Listener = @Sendable (Data?, DataStreamCompletion?) async -> Void

    private enum Phase {
        case unbegun
        case running(Task<Void, Never>)
        case over
    }

    private struct State {
        var phase = Phase.unbegun
        var completion: DataStreamCompletion?
        var isTaken = false
        var listeners: [Listener] = []
    }

    /// The request, with the session's header fields.
    public let request: OutgoingRequest

    private let session: Session
    private let interceptor: (any RequestInterceptor)?
    private let checks = Locked(Validator())
    private let state = Locked(State())
    private let pieces = Rendezvous<Data>()

    init(_ request: OutgoingRequest, in session: Session, _ interceptor: (any RequestInterceptor)?) {
        self.request = request.adding(session.headers)
        self.session = session
        self.interceptor = interceptor
    }

    /// How long a line of values may be.
    var lineLimit: Int { session.limits.body }

    /// What came of it; nil before the end.
    public var completion: DataStreamCompletion? { state.withLock { $0.completion } }

    /// Ends it, if it has not ended: a wait, an attempt, the answer.
    @discardableResult
    public func cancel() -> DataStreamRequest {
        end(DataStreamCompletion(request, Answer(error: .explicitlyCancelled)))
        return self
    }

    /// Adds to the checks of its answer, which are asked without the body.
    @discardableResult
    public func checking(_ change: (inout Validator) -> Void) -> DataStreamRequest {
        checks.withLock { change(&$0) }
        return self
    }

    /// Sends it, if that was not done. Its pieces wait for a reader.
    @discardableResult
    public func resume() -> DataStreamRequest {
        begin()
        return self
    }

    /// Adds a handler. The first one reads for all.
    func add(_ listener: @escaping Listener) {
        let (completion, isFirst) = state.withLock { state -> (DataStreamCompletion?, Bool) in
            if let completion = state.completion { return (completion, false) }
            if state.isTaken, state.listeners.isEmpty {
                return (DataStreamCompletion(request, Answer(error: .streamTaken)), false)
            }
            state.listeners.append(listener)
            defer { state.isTaken = true }
            return (nil, !state.isTaken)
        }
        if let completion { Task { await listener(nil, completion) } }
        if isFirst { Task { await readForListeners() } }
    }

    private func readForListeners() async {
        while let piece = try? await next(starts: session.startRequestsImmediately) {
            for listener in state.withLock({ $0.listeners }) { await listener(piece, nil) }
        }
        for listener in state.withLock({ $0.listeners }) { await listener(nil, completion) }
    }

    /// Whether the caller is the one who reads.
    func take() -> Bool {
        state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
    }

    /// The next piece, for the one who reads; nil at the end. Who is cancelled while waiting cancels it.
    func next(starts: Bool = true) async throws(RequestError) -> Data? {
        if starts { begin() }
        let piece = await withTaskCancellationHandler {
            await pieces.take()
        } onCancel: {
            cancel()
        }
        if piece == nil, let error = completion?.error { throw error }
        return piece
    }

    private func begin() {
        state.withLock { state in
            guard case .unbegun = state.phase else { return }
            state.phase = .running(Task { await read() })
        }
    }

    private func read() async {
        let began = ContinuousClock.now
        var answer = await session.send(request, checks, interceptor, leavesBody: true)
        var received: Int64 = 0
        if answer.error == nil, let body = answer.body {
            do {
                for try await part in body where part.readableBytes > 0 {
                    received += Int64(part.readableBytes)
                    guard await pieces.give(Data(part.readableBytesView)) else { return }
                }
            } catch {
                answer.error = .sessionTaskFailed(error: error)
            }
        }
        answer.metrics.receivedBytes = received
        answer.metrics.duration = began.duration(to: .now)
        end(DataStreamCompletion(request, answer))
    }

    /// The first end counts.
    private func end(_ completion: DataStreamCompletion) {
        let task: Task<Void, Never>? = state.withLock { state in
            defer { state.phase = .over }
            switch state.phase {
            case .over: return nil
            case .unbegun:
                state.completion = completion
                return nil
            case .running(let task):
                state.completion = completion
                return task
            }
        }
        task?.cancel()
        pieces.end()
    }
}

/// What came of a request that was read as it came.
public struct DataStreamCompletion: Sendable {
    /// The request as the caller made it.
    public let request: OutgoingRequest
    /// The answer; nil where there was none, or it was cancelled.
    public let response: ResponseHead?
    /// How long it took, how much came, and every attempt.
    public let metrics: RequestMetrics
    /// Why it is not whole; nil where it is.
    public let error: RequestError?

    init(_ request: OutgoingRequest, _ answer: Answer) {
        self.request = request
        response = answer.response
        metrics = answer.metrics
        error = answer.error
    }
}

extension Session {
    /// A request whose answer is read as it comes; sent when the first piece is asked for.
    ///
    /// - Parameters:
    ///   - request: What is sent.
    ///   - interceptor: Asked before the session's own.
    public func streamRequest(
        _ request: OutgoingRequest,
        interceptor: (any RequestInterceptor)? = nil
    ) -> DataStreamRequest {
        DataStreamRequest(request, in: self, interceptor)
    }

    /// A request whose answer is read as it comes; sent when the first piece is asked for.
    ///
    /// - Parameters:
    ///   - url: The URL as text.
    ///   - method: The method.
    ///   - headers: Its own header fields.
    ///   - interceptor: Asked before the session's own.
    public func streamRequest(
        _ url: String,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = HTTPHeaders(),
        interceptor: (any RequestInterceptor)? = nil
    ) -> DataStreamRequest {
        streamRequest(OutgoingRequest(url: url, method: method, headers: headers), interceptor: interceptor)
    }
}
