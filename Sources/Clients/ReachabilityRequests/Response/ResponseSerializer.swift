public import FoundationEssentials
public import ReachabilityRetry

/// Makes a value of an answer whose body is in memory.
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
    /// The type of the value.
    associatedtype SerializedObject: Sendable

    /// Returns the value. An error that is not an ``AFError`` becomes
    /// ``AFError/ResponseSerializationFailureReason/customSerializationFailed(error:)``.
    ///
    /// - Parameters:
    ///   - request: The request as it was sent last, if any.
    ///   - response: The head of the answer, if any.
    ///   - data: The body, if any.
    ///   - error: The error of the request, if any.
    func serialize(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        error: (any Error)?
    ) throws -> SerializedObject
}

/// Makes a value of a downloaded file.
public protocol DownloadResponseSerializerProtocol<SerializedObject>: Sendable {
    /// The type of the value.
    associatedtype SerializedObject: Sendable

    /// Returns the value of a file, see ``DataResponseSerializerProtocol/serialize(request:response:data:error:)``. `fileURL` is nil if there is
    /// no file.
    func serializeDownload(
        request: URLRequest?,
        response: HTTPURLResponse?,
        fileURL: URL?,
        error: (any Error)?
    ) throws -> SerializedObject
}

extension DownloadResponseSerializerProtocol where Self: DataResponseSerializerProtocol {
    /// Reads the file into memory, and serializes that.
    public func serializeDownload(
        request: URLRequest?,
        response: HTTPURLResponse?,
        fileURL: URL?,
        error: (any Error)?
    ) throws -> SerializedObject {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        guard let data = try? Data(contentsOf: fileURL) else {
            throw AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: fileURL))
        }
        return try serialize(request: request, response: response, data: data, error: nil)
    }
}

/// Changes a body before it is serialized.
public protocol DataPreprocessor: Sendable {
    /// Returns the body to serialize.
    func preprocess(_ data: Data) throws -> Data
}

/// A preprocessor that changes nothing.
public struct PassthroughPreprocessor: DataPreprocessor {
    /// Creates a preprocessor.
    public init() {}
    /// Returns the body unchanged.
    public func preprocess(_ data: Data) throws -> Data { data }
}

/// A serializer for bodies in memory and for files, with rules about empty bodies.
public protocol ResponseSerializer<SerializedObject>: DataResponseSerializerProtocol, DownloadResponseSerializerProtocol
{
    /// Changes the body first.
    var dataPreprocessor: any DataPreprocessor { get }
    /// The methods whose answers may be empty.
    var emptyRequestMethods: Set<HTTPMethod> { get }
    /// The statuses of answers that may be empty.
    var emptyResponseCodes: Set<Int> { get }
}

private let emptyMethods: Set<HTTPMethod> = [.head]
private let emptyCodes: Set<Int> = [204, 205]

extension ResponseSerializer {
    /// The default preprocessor, which changes nothing.
    public static var defaultDataPreprocessor: any DataPreprocessor { PassthroughPreprocessor() }
    /// The methods whose answers have no body by default: HEAD.
    public static var defaultEmptyRequestMethods: Set<HTTPMethod> { emptyMethods }
    /// The statuses whose answers have no body by default: 204 and 205.
    public static var defaultEmptyResponseCodes: Set<Int> { emptyCodes }

    /// The preprocessor of the body. The default changes nothing.
    public var dataPreprocessor: any DataPreprocessor { Self.defaultDataPreprocessor }
    /// The methods whose answers have no body. The default is HEAD.
    public var emptyRequestMethods: Set<HTTPMethod> { Self.defaultEmptyRequestMethods }
    /// The statuses whose answers have no body. The defaults are 204 and 205.
    public var emptyResponseCodes: Set<Int> { Self.defaultEmptyResponseCodes }

    /// Returns whether the body may be empty, because of the request or of the answer.
    public func emptyResponseAllowed(forRequest request: URLRequest?, response: HTTPURLResponse?) -> Bool {
        request.map { emptyRequestMethods.contains($0.sentMethod) } == true
            || response.map { emptyResponseCodes.contains($0.statusCode) } == true
    }

    /// Returns the changed body; nil if it is empty, and may be.
    package func content(
        _ request: URLRequest?,
        _ response: HTTPURLResponse?,
        _ data: Data?,
        _ error: (any Error)?
    ) throws -> Data? {
        if let error { throw error }
        if let data, !data.isEmpty {
            let data = try dataPreprocessor.preprocess(data)
            if !data.isEmpty { return data }
        }
        guard emptyResponseAllowed(forRequest: request, response: response) else {
            throw AFError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
        }
        return nil
    }
}

/// The URL of a downloaded file.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
    /// Creates a serializer.
    public init() {}

    /// Returns the URL of the file.
    public func serializeDownload(
        request: URLRequest?,
        response: HTTPURLResponse?,
        fileURL: URL?,
        error: (any Error)?
    ) throws -> URL {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        return fileURL
    }
}

/// The body as bytes.
public struct DataResponseSerializer: ResponseSerializer {
    /// Changes the body first.
    public let dataPreprocessor: any DataPreprocessor
    /// The statuses of answers that may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose answers may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    public init(
        dataPreprocessor: any DataPreprocessor = defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = defaultEmptyRequestMethods
    ) {
        self.init(dataPreprocessor, emptyResponseCodes, emptyRequestMethods)
    }

    init(_ preprocessor: any DataPreprocessor, _ codes: Set<Int>, _ methods: Set<HTTPMethod>) {
        (dataPreprocessor, emptyResponseCodes, emptyRequestMethods) = (preprocessor, codes, methods)
    }

    /// Returns the bytes of the body.
    public func serialize(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        error: (any Error)?
    ) throws -> Data {
        try content(request, response, data, error) ?? Data()
    }
}

/// The body as text, in the given encoding, else in that of the answer, else in ISO 8859-1.
public struct StringResponseSerializer: ResponseSerializer {
    /// Changes the body first.
    public let dataPreprocessor: any DataPreprocessor
    /// The encoding; nil for that of the answer.
    public let encoding: String.Encoding?
    /// The statuses of answers that may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose answers may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    public init(
        dataPreprocessor: any DataPreprocessor = defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = defaultEmptyRequestMethods
    ) {
        self.init(dataPreprocessor, encoding, emptyResponseCodes, emptyRequestMethods)
    }

    init(
        _ preprocessor: any DataPreprocessor,
        _ encoding: String.Encoding?,
        _ codes: Set<Int>,
        _ methods: Set<HTTPMethod>
    ) {
        (dataPreprocessor, emptyResponseCodes, emptyRequestMethods) = (preprocessor, codes, methods)
        self.encoding = encoding
    }

    /// Returns the text. A character set that is not known is an error, ``UnknownCharacterSet``.
    public func serialize(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        error: (any Error)?
    ) throws -> String {
        guard let content = try content(request, response, data, error) else { return "" }
        var used = encoding ?? .isoLatin1
        if encoding == nil, let name = response?.textEncodingName {
            guard let known = Self.encoding(named: name) else {
                let error = UnknownCharacterSet(name: name)
                throw AFError.responseSerializationFailed(reason: .customSerializationFailed(error: error))
            }
            used = known
        }
        guard let text = String(bytes: content, encoding: used) else {
            throw AFError.responseSerializationFailed(reason: .stringSerializationFailed(encoding: used))
        }
        return text
    }

    /// Returns the encoding with an IANA name; nil for one that is not known.
    static func encoding(named name: String) -> String.Encoding? {
        switch name.lowercased() {
        case "utf-8", "utf8": .utf8
        case "us-ascii", "ascii": .ascii
        case "iso-8859-1", "latin1", "iso_8859-1": .isoLatin1
        case "utf-16": .utf16
        case "utf-16le": .utf16LittleEndian
        case "utf-16be": .utf16BigEndian
        case "utf-32": .utf32
        default: nil
        }
    }
}

/// The body as a value, from JSON unless another decoder is given.
public struct DecodableResponseSerializer<T: Decodable & Sendable>: ResponseSerializer {
    /// Changes the body first.
    public let dataPreprocessor: any DataPreprocessor
    /// Reads the body.
    public let decoder: any DataDecoder
    /// The statuses of answers that may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose answers may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    public init(
        dataPreprocessor: any DataPreprocessor = defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = defaultEmptyRequestMethods
    ) {
        self.init(dataPreprocessor, decoder, emptyResponseCodes, emptyRequestMethods)
    }

    init(
        _ preprocessor: any DataPreprocessor,
        _ decoder: any DataDecoder,
        _ codes: Set<Int>,
        _ methods: Set<HTTPMethod>
    ) {
        (dataPreprocessor, emptyResponseCodes, emptyRequestMethods) = (preprocessor, codes, methods)
        self.decoder = decoder
    }

    /// Returns the decoded value.
    public func serialize(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        error: (any Error)?
    ) throws -> T {
        guard let content = try content(request, response, data, error) else {
            if let empty = (T.self as? any EmptyResponse.Type)?.emptyValue() as? T { return empty }
            throw AFError.responseSerializationFailed(reason: .invalidEmptyResponse(type: "\(T.self)"))
        }
        do {
            return try decoder.decodeAnswer(T.self, from: content)
        } catch {
            let error = response.map { error.naming(pageOf: $0) } ?? error
            throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
        }
    }
}

extension Error {
    /// Returns the error of a decoder that was given a page of HTML, with a hint at a captive portal.
    package func naming(pageOf response: HTTPURLResponse) -> any Error {
        guard response.mediaType?.isPage == true, self is DecodingError else { return self }
        let hint = "it is a page of HTML, perhaps that of a captive portal"
        return DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: [], debugDescription: hint, underlyingError: self)
        )
    }
}

/// Reads values from bytes.
public protocol DataDecoder: Sendable {
    /// Returns a decoded value.
    func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D
}

extension JSONDecoder: DataDecoder {}
extension PropertyListDecoder: DataDecoder {}

/// A type that has a value for an empty body.
public protocol EmptyResponse: Sendable {
    /// Returns the value of an answer without a body.
    static func emptyValue() -> Self
}

/// The value of an empty body.
public struct Empty: Codable, Hashable, Sendable, EmptyResponse {
    /// The only value.
    public static let value = Empty()
    /// Returns the only value.
    public static func emptyValue() -> Empty { value }
}
