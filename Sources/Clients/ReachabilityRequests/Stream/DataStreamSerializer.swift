public import FoundationEssentials

/// Makes values of the pieces of an answer. A piece may end anywhere. ``DecodableStreamSerializer`` receives lines, and
/// ``StringStreamSerializer`` whole characters.
public protocol DataStreamSerializer<SerializedObject>: Sendable {
    /// The type of a value.
    associatedtype SerializedObject: Sendable

    /// Returns the value. An error that is not an ``AFError`` becomes
    /// ``AFError/ResponseSerializationFailureReason/customSerializationFailed(error:)``.
    func serialize(_ data: Data) throws -> SerializedObject
}

/// The pieces themselves.
public struct PassthroughStreamSerializer: DataStreamSerializer {
    /// Creates a serializer.
    public init() {}

    /// Returns the piece itself.
    public func serialize(_ data: Data) throws -> Data { data }
}

/// UTF-8 text in whole characters. Bytes that are not UTF-8 become U+FFFD.
public struct StringStreamSerializer: DataStreamSerializer {
    /// Creates a serializer.
    public init() {}

    /// Returns the piece as text.
    public func serialize(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
}

/// Values, one per line. A line ends with LF or CR LF. Empty lines are skipped.
public struct DecodableStreamSerializer<T: Decodable & Sendable>: DataStreamSerializer {
    /// Reads a line.
    public let decoder: any DataDecoder
    /// Changes a line first.
    public let dataPreprocessor: any DataPreprocessor

    /// Creates a serializer.
    public init(
        decoder: any DataDecoder = JSONDecoder(),
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) {
        (self.decoder, self.dataPreprocessor) = (decoder, dataPreprocessor)
    }

    /// Returns the value of a line.
    public func serialize(_ data: Data) throws -> T {
        do {
            return try decoder.decodeAnswer(T.self, from: dataPreprocessor.preprocess(data))
        } catch {
            throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
        }
    }
}

/// Makes elements of the pieces of an answer. A piece may end anywhere.
package struct PieceDecoder<Element: Sendable, Failure: RequestFailure>: Sendable {
    private var splitter: any PieceSplitter
    private let make: @Sendable (Result<Data, AFError>) -> Result<Element, Failure>

    /// Returns the elements that are complete now.
    mutating func decode(_ piece: Data) -> [Result<Element, Failure>] { splitter.split(piece).map(make) }

    /// Returns the rest at the end.
    mutating func finish() -> [Result<Element, Failure>] { splitter.finish().map(make) }
}

extension PieceDecoder where Failure == Never {
    /// Creates a decoder of parts that can always be read.
    private init(_ splitter: any PieceSplitter, _ read: @escaping @Sendable (Data) -> Element) {
        self.init(splitter: splitter) { part in .success(read((try? part.get()) ?? Data())) }
    }
}

extension PieceDecoder<Data, Never> {
    /// The pieces themselves.
    package static var data: Self { Self(Pieces()) { $0 } }
}

extension PieceDecoder<String, Never> {
    /// Text in UTF-8, in whole characters.
    package static var strings: Self { Self(Characters()) { String(decoding: $0, as: UTF8.self) } }
}

extension PieceDecoder where Failure == AFError {
    /// Creates a decoder of the values of a serializer, with the maximum length of a line in bytes.
    init<Serializer: DataStreamSerializer<Element>>(_ serializer: Serializer, limit: Int) {
        let splitter: any PieceSplitter = (serializer as? any SplittingSerializer)?.splitter(limit: limit) ?? Pieces()
        self.init(splitter: splitter) { part in
            Result { try serializer.serialize(try part.get()) }.mapError { error in
                error.asAFError(or: .responseSerializationFailed(reason: .customSerializationFailed(error: error)))
            }
        }
    }
}

/// Splits an answer into the parts that a serializer receives.
private protocol PieceSplitter: Sendable {
    /// Returns the parts that are complete now.
    mutating func split(_ piece: Data) -> [Result<Data, AFError>]

    /// Returns the rest at the end.
    mutating func finish() -> [Result<Data, AFError>]
}

/// A serializer that does not receive the pieces themselves.
private protocol SplittingSerializer {
    func splitter(limit: Int) -> any PieceSplitter
}

extension DecodableStreamSerializer: SplittingSerializer {
    fileprivate func splitter(limit: Int) -> any PieceSplitter { Lines(limit: limit) }
}

extension StringStreamSerializer: SplittingSerializer {
    fileprivate func splitter(limit: Int) -> any PieceSplitter { Characters() }
}

private struct Pieces: PieceSplitter {
    mutating func split(_ piece: Data) -> [Result<Data, AFError>] { [.success(piece)] }

    mutating func finish() -> [Result<Data, AFError>] { [] }
}

/// A splitter that returns whole characters of UTF-8.
private struct Characters: PieceSplitter {
    /// The beginning of a character, at most three bytes.
    private var rest = Data()

    mutating func split(_ piece: Data) -> [Result<Data, AFError>] {
        let bytes = rest + piece
        let begun = Self.begun(at: bytes)
        rest = Data(bytes.suffix(begun))
        return Self.part(bytes.dropLast(begun))
    }

    mutating func finish() -> [Result<Data, AFError>] {
        defer { rest = Data() }
        return Self.part(rest)
    }

    private static func part(_ bytes: Data) -> [Result<Data, AFError>] { bytes.isEmpty ? [] : [.success(bytes)] }

    /// Returns the number of bytes at the end that belong to an incomplete character (RFC 3629, section 3).
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

/// A splitter that returns lines without their ends.
private struct Lines: PieceSplitter {
    /// The maximum length of a line, in bytes.
    let limit: Int
    /// The line that has not ended yet.
    private var rest = Data()
    /// A Boolean value that indicates whether a line was too long. Nothing is read after it, because the next line may be far away.
    private var isOver = false

    init(limit: Int) { self.limit = limit }

    mutating func split(_ piece: Data) -> [Result<Data, AFError>] {
        guard !isOver else { return [] }
        var lines: [Result<Data, AFError>] = []
        var piece = piece[...]
        while let end = piece.firstIndex(of: UInt8(ascii: "\n")) {
            rest += piece[..<end]
            piece = piece[(end + 1)...]
            lines += takeLine()
        }
        rest += piece
        return lines + (rest.count > limit ? takeLine() : [])
    }

    mutating func finish() -> [Result<Data, AFError>] { takeLine() }

    private mutating func takeLine() -> [Result<Data, AFError>] {
        defer { rest = Data() }
        guard !isOver, rest.contains(where: { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: " ") }) else { return [] }
        guard rest.count <= limit else {
            isOver = true
            let error = ResponseTooLong(limit: limit)
            return [.failure(.responseSerializationFailed(reason: .customSerializationFailed(error: error)))]
        }
        return [.success(Data(rest.last == UInt8(ascii: "\r") ? rest.dropLast() : rest))]
    }
}
