import FoundationEssentials

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
