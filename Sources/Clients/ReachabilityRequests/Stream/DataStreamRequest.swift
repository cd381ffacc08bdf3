import AsyncHTTPClient
public import Dispatch
public import FoundationEssentials
import LinuxSupport
import NIOCore

/// A request whose answer is read in pieces and is not kept. It is sent when the first piece is requested. One loop reads it, or any number
/// of handlers.
///
/// ```swift
/// for try await piece in session.streamRequest("https://example.org/events").validate() { print(piece.count) }
/// ```
///
/// The next piece is read after the previous one was taken, so a faster server waits. The request is sent again like every request, until
/// an answer begins. Then it is not, because a reader would receive the beginning twice. The duration of the answer is not limited.
public final class DataStreamRequest: Request, @unchecked Sendable {  // Unchecked because its superclass is.
    /// Receives each piece, then once the completion.
    typealias Listener = @Sendable (Data?, Completion?) async -> Void

    private struct Reading {
        var isTaken = false
        /// A Boolean value that indicates whether the handlers have received the end.
        var isOver = false
        var listeners: [Listener] = []
    }

    /// The value that created the request.
    public var convertible: any URLRequestConvertible { source }
    /// A Boolean value that indicates whether a value that cannot be read ends the request.
    public let automaticallyCancelOnStreamError: Bool

    private let reading = Locked(Reading())
    private let pieces = HandoverChannel<Data>()

    init(
        _ convertible: any URLRequestConvertible,
        in session: Session,
        _ interceptor: (any RequestInterceptor)?,
        cancelsOnError: Bool
    ) {
        automaticallyCancelOnStreamError = cancelsOnError
        super.init(convertible, in: session, interceptor)
    }

    override func run(_ request: URLRequest) async -> Answer {
        let began = ContinuousClock.now
        var answer = await session.send(request, of: self, leavesBody: true)
        var received: Int64 = 0
        if answer.error == nil, let body = answer.body {
            change(.download) { $0.totalUnitCount = answer.response?.contentLength ?? -1 }
            do {
                for try await part in body where part.readableBytes > 0 {
                    await gate.pass()
                    received += Int64(part.readableBytes)
                    change(.download) { $0.completedUnitCount = received }
                    guard await pieces.give(Data(part.readableBytesView)) else { break }
                }
            } catch {
                answer.error = .sessionTaskFailed(error: URLError(cause: error))
            }
        }
        answer.metrics?.receivedBytes = received
        answer.metrics?.end(after: began.duration(to: .now))
        return answer
    }

    override func didEnd() {
        super.didEnd()
        pieces.end()
    }
}

extension DataStreamRequest {
    /// The result; nil before the end.
    public var completion: Completion? {
        exchange.result.map { answer in
            var answer = answer
            answer.response = answer.response ?? response
            answer.error = error
            return Completion(lastRequest, answer)
        }
    }

    /// The result for a reader beside another.
    package var completionOfOther: Completion {
        Completion(lastRequest, Answer(error: .sessionTaskFailed(error: StreamTaken())))
    }

    /// Adds a handler. The first one reads for all.
    func add(_ listener: @escaping Listener) {
        let (isRefused, isFirst) = reading.withLock { reading -> (Bool, Bool) in
            if reading.isOver || exchange.result != nil && !reading.isTaken { return (true, false) }
            if reading.isTaken, reading.listeners.isEmpty { return (true, false) }
            reading.listeners.append(listener)
            defer { reading.isTaken = true }
            return (false, !reading.isTaken)
        }
        if isRefused {
            let end = completion ?? completionOfOther
            Task { await listener(nil, end) }
        }
        if isFirst { Task { await readForListeners() } }
    }

    private func readForListeners() async {
        while let piece = try? await next(starts: startsAutomatically) {
            for listener in reading.withLock({ $0.listeners }) { await listener(piece, nil) }
        }
        let listeners = reading.withLock { reading in
            reading.isOver = true
            return reading.listeners
        }
        for listener in listeners { await listener(nil, completion) }
    }

    /// Returns whether the caller is the reader.
    func take() -> Bool {
        reading.withLock { reading in
            defer { reading.isTaken = true }
            return !reading.isTaken
        }
    }

    /// Lets another reader read the rest.
    func leave() { reading.withLock { $0.isTaken = false } }

    /// Returns the next piece, for the reader; nil at the end. If the task is cancelled, so is the request.
    func next(starts: Bool = true) async throws(AFError) -> Data? {
        if starts { begin() }
        let piece = await withTaskCancellationHandler {
            await pieces.take()
        } onCancel: {
            cancel()
        }
        if piece == nil, let error = completion?.error { throw error }
        return piece
    }

    /// The result of a request that is read in pieces.
    public struct Completion: Sendable {
        /// The request as it was sent last; nil if it could not be created.
        public let request: URLRequest?
        /// The head of the answer, also if the request was cancelled; nil if there was none.
        public let response: HTTPURLResponse?
        /// The durations, the number of bytes and every attempt.
        public let metrics: RequestMetrics?
        /// The error, also that of a handler; nil if the answer is complete.
        public let error: AFError?

        init(_ request: URLRequest?, _ answer: Answer) {
            self.request = request
            response = answer.response
            metrics = answer.metrics
            error = answer.error
        }
    }
}

extension DataStreamRequest: AsyncSequence {
    /// A piece of the answer.
    public typealias Element = Data
    /// The error of a request that is not complete.
    public typealias Failure = AFError

    /// Sends nothing. The first piece that is requested does.
    public func makeAsyncIterator() -> Iterator { Iterator(base: StreamReader(self, .data)) }

    /// Reads the pieces. If it is released before the end, the request is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: StreamReader<Data, Never>

        /// Returns the next piece; nil at the end.
        ///
        /// - Throws: Also ``AFError/sessionTaskFailed(error:)`` if another reader reads it.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(AFError) -> Data? {
            try await base.nextElement()
        }
    }
}

extension DataStreamRequest {
    /// Returns the answer as UTF-8 text, in whole characters. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// ```swift
    /// for try await text in session.streamRequest("https://example.org/log").validate().strings() { print(text) }
    /// ```
    public func strings() -> some AsyncSequence<String, AFError> & Sendable {
        StreamSequence(request: self, decoder: .strings)
    }

    /// Returns the answer as values, one per line (JSON Lines). Empty lines are skipped. The first line that cannot be read, or is longer
    /// than ``ResponseLimits/body``, ends the request with ``AFError/responseSerializationFailed(reason:)``.
    public func decodables<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        using decoder: any DataDecoder = JSONDecoder()
    ) -> some AsyncSequence<Value, AFError> & Sendable {
        StreamSequence(request: self, decoder: pieces(DecodableStreamSerializer<Value>(decoder: decoder)))
    }

    package func pieces<Value: Sendable>(_ serializer: some DataStreamSerializer<Value>) -> PieceDecoder<Value, AFError>
    {
        PieceDecoder(serializer, limit: session.limits.body)
    }
}

/// The elements that a decoder makes of the pieces of a request.
private struct StreamSequence<Value: Sendable, Refusal: RequestFailure>: AsyncSequence, Sendable {
    let request: DataStreamRequest
    let decoder: PieceDecoder<Value, Refusal>

    func makeAsyncIterator() -> Iterator { Iterator(base: StreamReader(request, decoder)) }

    struct Iterator: AsyncIteratorProtocol {
        var base: StreamReader<Value, Refusal>

        mutating func next(isolation: isolated (any Actor)?) async throws(AFError) -> Value? {
            try await base.nextElement()
        }
    }
}

/// Handlers. Every handler receives all pieces that come after it was added, then the end. The next piece is read when all handlers have
/// returned.
extension DataStreamRequest {
    /// The parameter of a handler.
    public struct Stream<Success: Sendable, Failure: Error>: Sendable {
        /// The event that the handler receives.
        public let event: Event<Success, Failure>
        /// Cancels the request.
        public let token: CancellationToken

        package init(_ event: Event<Success, Failure>, of request: DataStreamRequest) {
            (self.event, token) = (event, CancellationToken(request: request))
        }

        /// The value or the error; nil at the end.
        public var result: Result<Success, Failure>? { if case .stream(let result) = event { result } else { nil } }
        /// The value; nil at the end, and if it cannot be read.
        public var value: Success? { try? result?.get() }
        /// The error of a value that cannot be read.
        public var error: Failure? { if case .failure(let error)? = result { error } else { nil } }
        /// The result of the request; nil before the end.
        public var completion: Completion? { if case .complete(let completion) = event { completion } else { nil } }

        /// Cancels the request. The handler receives only the end.
        public func cancel() { token.cancel() }
    }

    /// Cancels a request from its handler.
    public struct CancellationToken: Sendable {
        fileprivate let request: DataStreamRequest

        /// Cancels the request. The handler receives only the end.
        public func cancel() { request.cancel() }
    }

    /// An event of a request that is read in pieces.
    public enum Event<Success: Sendable, Failure: Error>: Sendable {
        /// A value has come, or one that cannot be read.
        case stream(Result<Success, Failure>)
        /// The request has ended. The last event.
        case complete(Completion)
    }

    /// Receives the events in order. The next piece is read when it has returned. If it throws, the request is cancelled if
    /// ``automaticallyCancelOnStreamError`` is true.
    public typealias Handler<Success: Sendable, Failure: Error> = @Sendable (Stream<Success, Failure>) throws -> Void

    /// Calls the handler with each piece.
    @discardableResult
    public func responseStream(
        on queue: DispatchQueue = .main,
        stream handler: @escaping Handler<Data, Never>
    ) -> Self {
        call(handler, with: .data, on: queue)
    }

    /// Calls the handler with UTF-8 text in whole characters.
    @discardableResult
    public func responseStreamString(
        on queue: DispatchQueue = .main,
        stream handler: @escaping Handler<String, Never>
    ) -> Self {
        call(handler, with: .strings, on: queue)
    }

    /// Calls the handler with values, one per line. After a line that cannot be read the next one is read, unless the handler cancels, or
    /// ``automaticallyCancelOnStreamError`` is true. The preprocessor changes each line first.
    @discardableResult
    public func responseStreamDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        on queue: DispatchQueue = .main,
        using decoder: any DataDecoder = JSONDecoder(),
        preprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        stream handler: @escaping Handler<Value, AFError>
    ) -> Self {
        let serializer = DecodableStreamSerializer<Value>(decoder: decoder, dataPreprocessor: preprocessor)
        return call(handler, with: pieces(serializer), on: queue)
    }

    /// Calls the handler with the values of a serializer, see ``DataStreamSerializer``. After a value that cannot be read the next one is
    /// read, unless the handler cancels, or ``automaticallyCancelOnStreamError`` is true.
    @discardableResult
    public func responseStream<Serializer: DataStreamSerializer>(
        using serializer: Serializer,
        on queue: DispatchQueue = .main,
        stream handler: @escaping Handler<Serializer.SerializedObject, AFError>
    ) -> Self {
        call(handler, with: pieces(serializer), on: queue)
    }

    private func call<Value: Sendable, Refusal: RequestFailure>(
        _ handler: @escaping Handler<Value, Refusal>,
        with decoder: PieceDecoder<Value, Refusal>,
        on queue: DispatchQueue
    ) -> Self {
        let decoder = Locked(decoder)
        add { [self] piece, completion in
            let isWhole = completion?.error == nil
            let elements = decoder.withLock { decoder in
                piece.map { decoder.decode($0) } ?? (isWhole ? decoder.finish() : [])
            }
            // A handler may cancel the request. A request that has ended otherwise may still have pieces to deliver.
            for element in elements where !isCancelled {
                didParse(element)
                await queue.call {
                    do { try handler(Stream(.stream(element), of: self)) } catch { self.cancel(because: error) }
                }
                if case .failure = element, automaticallyCancelOnStreamError { cancel() }
            }
            if let completion { await queue.call { try? handler(Stream(.complete(completion), of: self)) } }
        }
        return self
    }

    /// Cancels the request. Its error is that of the handler.
    private func cancel(because failure: any Error) {
        let reason = AFError.ResponseSerializationFailureReason.customSerializationFailed(error: failure)
        let error = failure.asAFError(or: .responseSerializationFailed(reason: reason))
        values.withLock { $0.error = $0.error ?? error }
        cancel()
    }
}
