import AsyncHTTPClient
public import Dispatch
public import FoundationEssentials
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

extension DataStreamRequest: AsyncSequence {
    /// A piece of the answer.
    public typealias Element = Data
    /// Why it ended before its end.
    public typealias Failure = RequestError

    /// Begins nothing; the first piece that is asked for does.
    public func makeAsyncIterator() -> Iterator { Iterator(base: StreamReader(self, DataPieces())) }

    /// Goes through the pieces. Where it is let go of before the end, the request is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: StreamReader<DataPieces>

        /// The next piece; nil at the end.
        ///
        /// - Throws: Also ``RequestError/streamTaken`` where somebody else reads it.
        public mutating func next() async throws(RequestError) -> Data? { try await base.nextElement() }

        /// The next piece; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(RequestError) -> Data? {
            try await base.nextElement()
        }
    }
}

extension DataStreamRequest {
    /// The answer as text, UTF-8, as it comes: whole characters, also where a piece ends within one. What is no UTF-8 is U+FFFD.
    ///
    /// ```swift
    /// for try await text in session.streamRequest("https://example.org/log").validate().strings() { print(text) }
    /// ```
    public func strings() -> some AsyncSequence<String, RequestError> & Sendable {
        StreamSequence(request: self, decoder: StringPieces())
    }

    /// The answer as values, as they come, one a line (JSON Lines; an empty line is none). The first that cannot be read ends the
    /// request.
    ///
    /// - Parameters:
    ///   - type: What a line is read as.
    ///   - decoder: Reads a line.
    /// - Returns: The values. It ends with ``RequestError/responseSerializationFailed(reason:)`` also where a line is longer than
    ///   ``ResponseLimits/body``.
    public func decodables<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        using decoder: any DataDecoder = JSONDecoder()
    ) -> some AsyncSequence<Value, RequestError> & Sendable {
        StreamSequence(request: self, decoder: lines(decoder, PassthroughPreprocessor()))
    }

    func lines<Value>(_ decoder: any DataDecoder, _ preprocessor: any DataPreprocessor) -> LinePieces<Value> {
        LinePieces(decoder: decoder, preprocessor: preprocessor, limit: lineLimit)
    }
}

/// What a request brings, made into something else.
private struct StreamSequence<Decoder: PieceDecoder>: AsyncSequence, Sendable {
    let request: DataStreamRequest
    let decoder: Decoder

    func makeAsyncIterator() -> Iterator { Iterator(base: StreamReader(request, decoder)) }

    struct Iterator: AsyncIteratorProtocol {
        var base: StreamReader<Decoder>

        mutating func next() async throws(RequestError) -> Decoder.Element? { try await base.nextElement() }

        mutating func next(isolation: isolated (any Actor)?) async throws(RequestError) -> Decoder.Element? {
            try await base.nextElement()
        }
    }
}

/// Handlers, as in Alamofire. Every handler gets all pieces that come after it was added, then the end. The next piece is read when all handlers
/// have returned.
extension DataStreamRequest {
    /// What a handler is told.
    public struct Stream<Success: Sendable, Failure: Error>: Sendable {
        /// What has happened.
        public let event: Event<Success, Failure>
        private let request: DataStreamRequest

        init(_ event: Event<Success, Failure>, of request: DataStreamRequest) {
            (self.event, self.request) = (event, request)
        }

        /// What has come; nil for the end.
        public var result: Result<Success, Failure>? { if case .stream(let result) = event { result } else { nil } }
        /// What has come; nil for the end, and for what cannot be read.
        public var value: Success? { try? result?.get() }
        /// Why what has come cannot be read.
        public var error: Failure? { if case .failure(let error)? = result { error } else { nil } }
        /// What came of all; nil before the end.
        public var completion: Completion? { if case .complete(let completion) = event { completion } else { nil } }

        /// Ends the request; the handler is told nothing but that.
        public func cancel() { request.cancel() }
    }

    /// What happens to a request that is read as it comes.
    public enum Event<Success: Sendable, Failure: Error>: Sendable {
        /// Something has come.
        case stream(Result<Success, Failure>)
        /// It is over; told once, last.
        case complete(Completion)
    }

    /// Alamofire's name.
    public typealias Completion = DataStreamCompletion

    /// Told what happens, in order; what comes next is read when it has returned.
    public typealias Handler<Success: Sendable, Failure: Error> = @Sendable (Stream<Success, Failure>) -> Void

    /// Sends it, and tells the handler each piece.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called.
    ///   - handler: Told each piece, and the end.
    @discardableResult
    public func responseStream(
        on queue: DispatchQueue = Session.handlerQueue,
        stream handler: @escaping Handler<Data, Never>
    ) -> DataStreamRequest {
        tell(DataPieces(), to: handler, on: queue)
    }

    /// Sends it, and tells the handler its text, UTF-8, in whole characters, as ``strings()`` does.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called.
    ///   - handler: Told the text, and the end.
    @discardableResult
    public func responseStreamString(
        on queue: DispatchQueue = Session.handlerQueue,
        stream handler: @escaping Handler<String, Never>
    ) -> DataStreamRequest {
        tell(StringPieces(), to: handler, on: queue)
    }

    /// Sends it, and tells the handler its values, one a line, as ``decodables(of:using:)`` has them. After a line that cannot be read the
    /// next is, unless the handler cancels.
    ///
    /// - Parameters:
    ///   - type: What a line is read as.
    ///   - queue: Where the handler is called.
    ///   - decoder: Reads a line.
    ///   - preprocessor: Changes a line before that.
    ///   - handler: Told the values, and the end.
    @discardableResult
    public func responseStreamDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        on queue: DispatchQueue = Session.handlerQueue,
        using decoder: any DataDecoder = JSONDecoder(),
        preprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        stream handler: @escaping Handler<Value, RequestError>
    ) -> DataStreamRequest {
        tell(lines(decoder, preprocessor), to: handler, on: queue)
    }

    private func tell<Decoder: PieceDecoder>(
        _ decoder: Decoder,
        to handler: @escaping Handler<Decoder.Element, Decoder.Failure>,
        on queue: DispatchQueue
    ) -> DataStreamRequest {
        let decoder = Locked(decoder)
        add { [self] piece, completion in
            let isWhole = completion?.error == nil
            let elements = decoder.withLock { decoder in
                piece.map { decoder.decode($0) } ?? (isWhole ? decoder.finish() : [])
            }
            // A handler may cancel the request. A request that has ended otherwise may still have pieces to deliver.
            for element in elements where self.completion?.error?.isExplicitlyCancelledError != true {
                await queue.call { handler(Stream(.stream(element), of: self)) }
            }
            if let completion { await queue.call { handler(Stream(.complete(completion), of: self)) } }
        }
        return self
    }
}
