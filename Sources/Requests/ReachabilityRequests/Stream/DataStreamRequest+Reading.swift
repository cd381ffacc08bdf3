public import Dispatch
public import FoundationEssentials

extension DataStreamRequest: AsyncSequence {
    /// A piece of the answer.
    public typealias Element = Data
    /// Why it ended before its end.
    public typealias Failure = RequestError

    /// Begins nothing; the first piece that is asked for does.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(self)) }

    /// Goes through the pieces. Where it is let go of before the end, the request is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader

        /// The next piece; nil at the end.
        ///
        /// - Throws: Also ``RequestError/streamTaken`` where somebody else reads it.
        public mutating func next() async throws(RequestError) -> Data? {
            guard let request = reader.request else { throw .streamTaken }
            return try await request.next()
        }

        /// The next piece; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(RequestError) -> Data? {
            guard let request = reader.request else { throw .streamTaken }
            return try await request.next()
        }
    }

    fileprivate final class Reader: Sendable {
        /// Nil where there is a reader already.
        let request: DataStreamRequest?

        init(_ request: DataStreamRequest) { self.request = request.take() ? request : nil }

        deinit { request?.cancel() }
    }
}

/// A handler, as code of Alamofire's readers has it.
extension DataStreamRequest {
    /// What a handler is told.
    public struct Stream: Sendable {
        /// What has happened.
        public let event: Event
        private let request: DataStreamRequest

        fileprivate init(_ event: Event, of request: DataStreamRequest) {
            (self.event, self.request) = (event, request)
        }

        /// Ends the request; the handler is told nothing but that.
        public func cancel() { request.cancel() }
    }

    /// What happens to a request that is read as it comes.
    public enum Event: Sendable {
        /// A piece has come.
        case stream(Result<Data, Never>)
        /// It is over; told once, last.
        case complete(DataStreamCompletion)
    }

    /// Sends it, and tells the handler each piece, in order; the next one when the handler has returned.
    @discardableResult
    public func responseStream(
        on queue: DispatchQueue = .global(),
        stream handler: @escaping @Sendable (Stream) -> Void
    ) -> DataStreamRequest {
        guard take() else { return self }
        Task {
            while let piece = try? await next() { await tell(.stream(.success(piece)), to: handler, on: queue) }
            if let completion { await tell(.complete(completion), to: handler, on: queue) }
        }
        return self
    }

    private func tell(
        _ event: Event,
        to handler: @escaping @Sendable (Stream) -> Void,
        on queue: DispatchQueue
    ) async {
        await withCheckedContinuation { continuation in
            queue.async {
                handler(Stream(event, of: self))
                continuation.resume()
            }
        }
    }
}
