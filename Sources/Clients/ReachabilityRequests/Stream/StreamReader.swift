/// Reads a request to its end, and makes elements of the pieces. Where it is let go of before the end, the request is cancelled.
struct StreamReader<Decoder: PieceDecoder>: Sendable {
    private let source: Source
    private var decoder: Decoder
    private var ready: ArraySlice<Result<Decoder.Element, Decoder.Failure>> = []

    init(_ request: DataStreamRequest, _ decoder: Decoder) {
        source = Source(request)
        self.decoder = decoder
    }

    /// Whether it is the one who reads; the first is.
    var isReader: Bool { source.request != nil }

    /// The next element, or why it cannot be read, after which the next may be asked for; nil at the end, and where it is not the one who
    /// reads.
    mutating func next() async -> Result<Decoder.Element, Decoder.Failure>? {
        while true {
            if let element = ready.popFirst() { return element }
            guard let request = source.request else { return nil }
            guard let piece = try? await request.next() else {
                // What is left is whole only where the answer is.
                ready = request.completion?.error == nil ? decoder.finish()[...] : []
                return ready.popFirst()
            }
            ready = decoder.decode(piece)[...]
        }
    }

    /// The next element; nil at the end. The first that cannot be read ends the request.
    mutating func nextElement() async throws(RequestError) -> Decoder.Element? {
        guard let request = source.request else { throw .streamTaken }
        switch await next() {
        case .success(let element)?: return element
        case .failure(let error)?:
            request.cancel()
            ready = []
            throw error.requestError
        case nil:
            if let error = request.completion?.error { throw error }
            return nil
        }
    }

    private final class Source: Sendable {
        /// Nil where there is a reader already.
        let request: DataStreamRequest?

        init(_ request: DataStreamRequest) { self.request = request.take() ? request : nil }

        deinit { request?.cancel() }
    }
}
