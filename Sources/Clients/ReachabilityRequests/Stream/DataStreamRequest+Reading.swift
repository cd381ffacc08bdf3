public import FoundationEssentials

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
