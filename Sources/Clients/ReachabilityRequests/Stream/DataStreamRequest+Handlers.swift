public import Dispatch
public import FoundationEssentials
import LinuxSupport

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
