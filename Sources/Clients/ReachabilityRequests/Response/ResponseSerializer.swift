public import FoundationEssentials
public import ReachabilityRetry

/// Makes a value of an answer.
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
    /// What it makes.
    associatedtype SerializedObject: Sendable

    /// The value; what it throws that is no ``RequestError`` becomes one.
    func serialize(request: OutgoingRequest, response: ResponseHead, data: Data) throws -> SerializedObject
}

/// Changes a body before it is read as something.
public protocol DataPreprocessor: Sendable {
    /// The body as it is to be read.
    func preprocess(_ data: Data) throws -> Data
}

/// Changes nothing.
public struct PassthroughPreprocessor: DataPreprocessor {
    /// One.
    public init() {}
    /// The body as it is.
    public func preprocess(_ data: Data) throws -> Data { data }
}

/// Takes away the `)]}',` and the line break that some servers put before JSON.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
    /// One.
    public init() {}
    /// The body without it.
    public func preprocess(_ data: Data) throws -> Data {
        let prefix = Array(")]}',\n".utf8)
        return data.starts(with: prefix) ? Data(data.dropFirst(prefix.count)) : data
    }
}

/// A serializer that knows when an answer may be empty.
public protocol ResponseSerializer: DataResponseSerializerProtocol {
    /// Changes the body first.
    var dataPreprocessor: any DataPreprocessor { get }
    /// Methods whose answers have no body.
    var emptyRequestMethods: Set<HTTPMethod> { get }
    /// Statuses of answers that have no body.
    var emptyResponseCodes: Set<Int> { get }
}

extension ResponseSerializer {
    /// HEAD
    public static var defaultEmptyRequestMethods: Set<HTTPMethod> { [.head] }
    /// 204, 205
    public static var defaultEmptyResponseCodes: Set<Int> { [204, 205] }

    /// Whether the answer may be empty.
    public func emptyResponseAllowed(forRequest request: OutgoingRequest, response: ResponseHead) -> Bool {
        emptyRequestMethods.contains(request.method) || emptyResponseCodes.contains(response.statusCode)
    }

    /// The changed body; nil where it is empty, and may be.
    func content(_ request: OutgoingRequest, _ response: ResponseHead, _ data: Data) throws -> Data? {
        let data = data.isEmpty ? data : try dataPreprocessor.preprocess(data)
        if !data.isEmpty { return data }
        guard emptyResponseAllowed(forRequest: request, response: response) else {
            throw RequestError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
        }
        return nil
    }
}

/// The body as bytes.
public struct DataResponseSerializer: ResponseSerializer {
    /// Changes the body first.
    public let dataPreprocessor: any DataPreprocessor
    /// Statuses of answers that have no body.
    public let emptyResponseCodes: Set<Int>
    /// Methods whose answers have no body.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// See ``ResponseSerializer``.
    public init(
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        emptyResponseCodes: Set<Int> = defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// The bytes.
    public func serialize(request: OutgoingRequest, response: ResponseHead, data: Data) throws -> Data {
        try content(request, response, data) ?? Data()
    }
}

/// The body as text: in the set it was asked for, else in the answer's own `charset`, else in ISO 8859-1.
public struct StringResponseSerializer: ResponseSerializer {
    /// Changes the body first.
    public let dataPreprocessor: any DataPreprocessor
    /// The character set; nil for that of the answer.
    public let encoding: String.Encoding?
    /// Statuses of answers that have no body.
    public let emptyResponseCodes: Set<Int>
    /// Methods whose answers have no body.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// See ``ResponseSerializer``.
    public init(
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.encoding = encoding
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// The text.
    public func serialize(request: OutgoingRequest, response: ResponseHead, data: Data) throws -> String {
        guard let content = try content(request, response, data) else { return "" }
        let charset = response.mimeType?.parameters["charset"]
        let used = encoding ?? charset.map(Self.encoding(named:)) ?? .isoLatin1
        guard let used, let text = String(bytes: content, encoding: used) else {
            throw RequestError.responseSerializationFailed(
                reason: .stringSerializationFailed(charset: encoding?.description ?? charset ?? "iso-8859-1")
            )
        }
        return text
    }

    /// Names of the IANA. Nil for one that is not known here: to guess would be to show other letters.
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
public struct DecodableResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer {
    /// Changes the body first.
    public let dataPreprocessor: any DataPreprocessor
    /// Reads the body.
    public let decoder: any DataDecoder
    /// Statuses of answers that have no body.
    public let emptyResponseCodes: Set<Int>
    /// Methods whose answers have no body.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// See ``ResponseSerializer``.
    public init(
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.decoder = decoder
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// The value.
    public func serialize(request: OutgoingRequest, response: ResponseHead, data: Data) throws -> Value {
        guard let content = try content(request, response, data) else {
            if let empty = (Value.self as? any EmptyResponse.Type)?.emptyValue() as? Value { return empty }
            throw RequestError.responseSerializationFailed(reason: .invalidEmptyResponse(type: "\(Value.self)"))
        }
        do {
            return try decoder.decode(Value.self, from: content)
        } catch {
            let type = response.headers["Content-Type"]
            throw RequestError.responseSerializationFailed(reason: .decodingFailed(error: error, contentType: type))
        }
    }
}

/// Reads values from bytes.
public protocol DataDecoder: Sendable {
    /// The value.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: DataDecoder {}

/// A type that has a value for an answer without a body.
public protocol EmptyResponse: Sendable {
    /// That value.
    static func emptyValue() -> Self
}

/// Nothing: what an answer without a body is read as.
public struct Empty: Codable, Hashable, Sendable, EmptyResponse {
    /// The only one.
    public static let value = Empty()
    /// The only one.
    public static func emptyValue() -> Empty { value }
}
