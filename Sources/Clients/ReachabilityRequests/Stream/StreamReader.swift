import FoundationEssentials
import LinuxSupport

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

/// Makes elements of an answer that comes in pieces, which end anywhere.
protocol PieceDecoder: Sendable {
    associatedtype Element: Sendable
    /// Why an element cannot be read.
    associatedtype Failure: RequestFailure

    /// What is whole now.
    mutating func decode(_ piece: Data) -> [Result<Element, Failure>]

    /// What is left at the end.
    mutating func finish() -> [Result<Element, Failure>]
}

/// The pieces as they come.
struct DataPieces: PieceDecoder {
    mutating func decode(_ piece: Data) -> [Result<Data, Never>] { [.success(piece)] }

    mutating func finish() -> [Result<Data, Never>] { [] }
}

/// Text in UTF-8, in whole characters.
struct StringPieces: PieceDecoder {
    /// The beginning of a character, three bytes at most.
    private var rest = Data()

    mutating func decode(_ piece: Data) -> [Result<String, Never>] {
        let bytes = rest + piece
        let begun = Self.begun(at: bytes)
        rest = Data(bytes.suffix(begun))
        return Self.text(bytes.dropLast(begun))
    }

    mutating func finish() -> [Result<String, Never>] {
        defer { rest = Data() }
        return Self.text(rest)
    }

    private static func text(_ bytes: Data) -> [Result<String, Never>] {
        bytes.isEmpty ? [] : [.success(String(decoding: bytes, as: UTF8.self))]
    }

    /// How many bytes at the end are of a character that is not whole (RFC 3629, section 3).
    private static func begun(at bytes: Data) -> Int {
        for (index, byte) in bytes.suffix(3).reversed().enumerated() {
            let length =
                switch byte {
                case 0x80..<0xc0: 0
                case 0xc2..<0xe0: 2
                case 0xe0..<0xf0: 3
                case 0xf0..<0xf5: 4
                default: 1
                }
            if length > 0 { return length > index + 1 ? index + 1 : 0 }
        }
        return 0
    }
}

/// Values, one a line. A line is ended by LF or CR LF; an empty one is none.
struct LinePieces<Value: Decodable & Sendable>: PieceDecoder {
    let decoder: any DataDecoder
    let preprocessor: any DataPreprocessor
    /// How long a line may be, in bytes.
    let limit: Int
    /// The line that has not ended yet.
    private var rest = Data()
    /// Whether a line was too long: nothing is read of what follows, for where the next begins could be long away.
    private var isOver = false

    init(decoder: any DataDecoder, preprocessor: any DataPreprocessor, limit: Int) {
        (self.decoder, self.preprocessor, self.limit) = (decoder, preprocessor, limit)
    }

    mutating func decode(_ piece: Data) -> [Result<Value, RequestError>] {
        guard !isOver else { return [] }
        var values: [Result<Value, RequestError>] = []
        var piece = piece[...]
        while let end = piece.firstIndex(of: UInt8(ascii: "\n")) {
            rest += piece[..<end]
            piece = piece[(end + 1)...]
            values += takeLine()
        }
        rest += piece
        return values + (rest.count > limit ? takeLine() : [])
    }

    mutating func finish() -> [Result<Value, RequestError>] { takeLine() }

    private mutating func takeLine() -> [Result<Value, RequestError>] {
        defer { rest = Data() }
        guard !isOver, rest.contains(where: { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: " ") }) else { return [] }
        guard rest.count <= limit else {
            isOver = true
            return [.failure(.responseSerializationFailed(reason: .inputDataTooLong(limit: limit)))]
        }
        let line = rest.last == UInt8(ascii: "\r") ? rest.dropLast() : rest
        do {
            return [.success(try decoder.decode(Value.self, from: preprocessor.preprocess(Data(line))))]
        } catch {
            return [.failure(.responseSerializationFailed(reason: .decodingFailed(error: error, contentType: nil)))]
        }
    }
}

/// Why an element cannot be read: never, or a ``RequestError``.
protocol RequestFailure: Error {
    var requestError: RequestError { get }
}

extension RequestError: RequestFailure {
    var requestError: RequestError { self }
}

extension Never: RequestFailure {
    var requestError: RequestError { switch self {} }
}

/// Hands elements over, one at a time: who gives one waits until the one before it was taken, so nothing piles up.
///
/// One task gives, and one takes.
final class Rendezvous<Element: Sendable>: Sendable {
    private enum State {
        case idle
        /// It waits to be taken.
        case offered(Element, CheckedContinuation<Bool, Never>)
        /// It is waited for.
        case wanted(CheckedContinuation<Element?, Never>)
        case over
    }

    private let state = Locked(State.idle)

    /// Gives an element, and waits until it is taken.
    ///
    /// - Returns: Whether more is wanted.
    func give(_ element: Element) async -> Bool {
        await withCheckedContinuation { giver in
            let (taker, isRefused): (CheckedContinuation<Element?, Never>?, Bool) = state.withLock { state in
                switch state {
                case .wanted(let taker):
                    state = .idle
                    return (taker, false)
                case .idle:
                    state = .offered(element, giver)
                    return (nil, false)
                case .offered, .over: return (nil, true)
                }
            }
            taker?.resume(returning: element)
            if taker != nil || isRefused { giver.resume(returning: !isRefused) }
        }
    }

    /// The next element; nil at the end.
    func take() async -> Element? {
        await withCheckedContinuation { taker in
            let (element, giver, isRefused): (Element?, CheckedContinuation<Bool, Never>?, Bool) = state.withLock {
                state in
                switch state {
                case .offered(let element, let giver):
                    state = .idle
                    return (element, giver, false)
                case .idle:
                    state = .wanted(taker)
                    return (nil, nil, false)
                case .wanted, .over: return (nil, nil, true)
                }
            }
            giver?.resume(returning: true)
            if giver != nil || isRefused { taker.resume(returning: element) }
        }
    }

    /// Nothing comes any more; what was offered is let go of.
    func end() {
        let before = state.withLock { state in
            defer { state = .over }
            return state
        }
        switch before {
        case .offered(_, let giver): giver.resume(returning: false)
        case .wanted(let taker): taker.resume(returning: nil)
        case .idle, .over: break
        }
    }
}
