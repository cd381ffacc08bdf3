import FoundationEssentials
import LinuxSupport

/// Reads a request to its end, and makes elements of the pieces. If it is released before the end, the request is cancelled.
struct StreamReader<Decoder: PieceDecoder>: Sendable {
    private let source: Source
    private var decoder: Decoder
    private var ready: ArraySlice<Result<Decoder.Element, Decoder.Failure>> = []

    init(_ request: DataStreamRequest, _ decoder: Decoder) {
        source = Source(request)
        self.decoder = decoder
    }

    /// A Boolean value that indicates whether it is the reader of the request. The first is.
    var isReader: Bool { source.request != nil }

    /// The next element, or its error, after which the next one can be read; nil at the end, and if there is another reader.
    mutating func next() async -> Result<Decoder.Element, Decoder.Failure>? {
        while true {
            if let element = ready.popFirst() {
                source.request?.didParse(element)
                return element
            }
            guard let request = source.request else { return nil }
            guard let piece = try? await request.next() else {
                // The rest is complete only if the answer is.
                ready = request.completion?.error == nil ? decoder.finish()[...] : []
                guard !ready.isEmpty else { return nil }
                continue
            }
            ready = decoder.decode(piece)[...]
        }
    }

    /// The next element; nil at the end. The first one that cannot be read ends the request.
    mutating func nextElement() async throws(AFError) -> Decoder.Element? {
        guard let request = source.request else { throw .sessionTaskFailed(error: StreamTaken()) }
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
        /// Nil if there is another reader.
        let request: DataStreamRequest?

        init(_ request: DataStreamRequest) { self.request = request.take() ? request : nil }

        deinit { request?.cancel() }
    }
}

/// Makes elements of an answer that comes in pieces, which may end anywhere.
protocol PieceDecoder: Sendable {
    associatedtype Element: Sendable
    /// The error of an element that cannot be read.
    associatedtype Failure: RequestFailure

    /// The elements that are complete now.
    mutating func decode(_ piece: Data) -> [Result<Element, Failure>]

    /// The rest at the end.
    mutating func finish() -> [Result<Element, Failure>]
}

/// The pieces as they come.
struct DataPieces: PieceDecoder {
    mutating func decode(_ piece: Data) -> [Result<Data, Never>] { [.success(piece)] }

    mutating func finish() -> [Result<Data, Never>] { [] }
}

/// Text in UTF-8, in whole characters.
struct StringPieces: PieceDecoder {
    /// The beginning of a character, at most three bytes.
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

    /// The number of bytes at the end that belong to an incomplete character (RFC 3629, section 3).
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

/// Values, one per line. A line ends with LF or CR LF. Empty lines are skipped.
struct LinePieces<Value: Decodable & Sendable>: PieceDecoder {
    let decoder: any DataDecoder
    let preprocessor: any DataPreprocessor
    /// The maximum length of a line, in bytes.
    let limit: Int
    /// The line that has not ended yet.
    private var rest = Data()
    /// A Boolean value that indicates whether a line was too long. Nothing is read after it, because the next line may be far away.
    private var isOver = false

    init(decoder: any DataDecoder, preprocessor: any DataPreprocessor, limit: Int) {
        (self.decoder, self.preprocessor, self.limit) = (decoder, preprocessor, limit)
    }

    mutating func decode(_ piece: Data) -> [Result<Value, AFError>] {
        guard !isOver else { return [] }
        var values: [Result<Value, AFError>] = []
        var piece = piece[...]
        while let end = piece.firstIndex(of: UInt8(ascii: "\n")) {
            rest += piece[..<end]
            piece = piece[(end + 1)...]
            values += takeLine()
        }
        rest += piece
        return values + (rest.count > limit ? takeLine() : [])
    }

    mutating func finish() -> [Result<Value, AFError>] { takeLine() }

    private mutating func takeLine() -> [Result<Value, AFError>] {
        defer { rest = Data() }
        guard !isOver, rest.contains(where: { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: " ") }) else { return [] }
        guard rest.count <= limit else {
            isOver = true
            return [
                .failure(
                    .responseSerializationFailed(
                        reason: .customSerializationFailed(error: ResponseTooLong(limit: limit))
                    )
                )
            ]
        }
        let line = rest.last == UInt8(ascii: "\r") ? rest.dropLast() : rest
        do {
            return [.success(try decoder.decodeAnswer(Value.self, from: preprocessor.preprocess(Data(line))))]
        } catch {
            return [.failure(.responseSerializationFailed(reason: .decodingFailed(error: error)))]
        }
    }
}

/// Why an element cannot be read: never, or a ``AFError``.
protocol RequestFailure: Error {
    var requestError: AFError { get }
}

extension AFError: RequestFailure {
    var requestError: AFError { self }
}

extension Never: RequestFailure {
    var requestError: AFError { switch self {} }
}

/// Passes elements from one task to another, one at a time. The giver waits until the previous element was taken.
///
/// One task gives, and one task takes.
final class Rendezvous<Element: Sendable>: Sendable {
    private enum State {
        case idle
        /// An element waits for the taker.
        case offered(Element, CheckedContinuation<Bool, Never>)
        /// The taker waits for an element.
        case wanted(CheckedContinuation<Element?, Never>)
        case over
    }

    private let state = Locked(State.idle)

    /// Gives an element, and waits until it is taken.
    ///
    /// - Returns: True if more elements are wanted.
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

    /// Ends it. An element that was offered is dropped.
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
