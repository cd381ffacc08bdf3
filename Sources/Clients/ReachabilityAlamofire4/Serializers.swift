public import FoundationEssentials
public import ReachabilityRequests

/// A type that has a serializer of answers in memory.
public protocol DataResponseSerializerProtocol: Sendable {
    /// The type of the value.
    associatedtype SerializedObject

    /// Makes a value of the request, the head, the body and the error of an answer.
    var serializeResponse: @Sendable (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) -> Result<SerializedObject>
    { get }
}

/// A serializer of answers in memory, made of a closure.
public struct DataResponseSerializer<Value>: DataResponseSerializerProtocol {
    /// The closure that reads the answer.
    public let serializeResponse: @Sendable (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) -> Result<Value>

    /// Creates a serializer that calls a closure.
    public init(
        serializeResponse: @escaping @Sendable (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) -> Result<Value>
    ) {
        self.serializeResponse = serializeResponse
    }
}

/// A type that has a serializer of downloaded files.
public protocol DownloadResponseSerializerProtocol: Sendable {
    /// The type of the value.
    associatedtype SerializedObject

    /// Makes a value of the request, the head, the file and the error of an answer.
    var serializeResponse: @Sendable (URLRequest?, HTTPURLResponse?, URL?, (any Error)?) -> Result<SerializedObject>
    { get }
}

/// A serializer of downloaded files, made of a closure.
public struct DownloadResponseSerializer<Value>: DownloadResponseSerializerProtocol {
    /// The closure that reads the answer.
    public let serializeResponse: @Sendable (URLRequest?, HTTPURLResponse?, URL?, (any Error)?) -> Result<Value>

    /// Creates a serializer that calls a closure.
    public init(
        serializeResponse: @escaping @Sendable (URLRequest?, HTTPURLResponse?, URL?, (any Error)?) -> Result<Value>
    ) {
        self.serializeResponse = serializeResponse
    }
}

/// The options for reading JSON. They have no effect: any value can be the root.
public struct JSONReadingOptions: OptionSet, Sendable {
    /// Any value can be the root.
    public static let allowFragments = JSONReadingOptions(rawValue: 4)
    /// Values of Swift are mutable if their variable is.
    public static let mutableContainers = JSONReadingOptions(rawValue: 1)

    /// The bits, one for each option.
    public let rawValue: UInt
    /// Options of these bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
}

extension Request {
    /// Returns the body unchanged.
    public static func serializeResponseData(
        response: HTTPURLResponse?,
        data: Data?,
        error: (any Error)?
    ) -> Result<Data> {
        Result {
            try ReachabilityRequests.DataResponseSerializer()
                .serialize(request: nil, response: response, data: data, error: error)
        }
    }

    /// Returns the body as text.
    public static func serializeResponseString(
        encoding: String.Encoding?,
        response: HTTPURLResponse?,
        data: Data?,
        error: (any Error)?
    ) -> Result<String> {
        Result {
            try StringResponseSerializer(encoding: encoding)
                .serialize(request: nil, response: response, data: data, error: error)
        }
    }

    /// Returns the body as dictionaries, arrays, text, numbers and Boolean values.
    public static func serializeResponseJSON(
        options: JSONReadingOptions = .allowFragments,
        response: HTTPURLResponse?,
        data: Data?,
        error: (any Error)?
    ) -> Result<Any> {
        Result {
            try JSONResponseSerializer().serialize(request: nil, response: response, data: data, error: error)
        }
    }

    /// Returns the body as dictionaries, arrays, text, numbers, Boolean values, dates and bytes of a property list.
    public static func serializeResponsePropertyList(
        response: HTTPURLResponse?,
        data: Data?,
        error: (any Error)?
    ) -> Result<Any> {
        Result {
            try PropertyListResponseSerializer().serialize(request: nil, response: response, data: data, error: error)
        }
    }
}

extension DataRequest {
    /// Returns a serializer of bytes.
    public static func dataResponseSerializer() -> DataResponseSerializer<Data> {
        DataResponseSerializer { Request.serializeResponseData(response: $1, data: $2, error: $3) }
    }

    /// Returns a serializer of text.
    public static func stringResponseSerializer(encoding: String.Encoding? = nil) -> DataResponseSerializer<String> {
        DataResponseSerializer {
            Request.serializeResponseString(encoding: encoding, response: $1, data: $2, error: $3)
        }
    }

    /// Returns a serializer of JSON.
    public static func jsonResponseSerializer(
        options: JSONReadingOptions = .allowFragments
    ) -> DataResponseSerializer<Any> {
        DataResponseSerializer { Request.serializeResponseJSON(response: $1, data: $2, error: $3) }
    }

    /// Returns a serializer of property lists.
    public static func propertyListResponseSerializer() -> DataResponseSerializer<Any> {
        DataResponseSerializer { Request.serializeResponsePropertyList(response: $1, data: $2, error: $3) }
    }
}

extension DownloadRequest {
    /// Returns a serializer of property lists.
    public static func propertyListResponseSerializer() -> DownloadResponseSerializer<Any> {
        serializer(DataRequest.propertyListResponseSerializer())
    }

    private static func serializer<Value>(
        _ serializer: DataResponseSerializer<Value>
    ) -> DownloadResponseSerializer<Value> {
        DownloadResponseSerializer { request, response, fileURL, error in
            if let error { return .failure(error) }
            guard let fileURL else {
                return .failure(AFError.responseSerializationFailed(reason: .inputFileNil))
            }
            guard let data = try? Data(contentsOf: fileURL) else {
                return .failure(AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: fileURL)))
            }
            return serializer.serializeResponse(request, response, data, nil)
        }
    }

    /// Returns a serializer of bytes.
    public static func dataResponseSerializer() -> DownloadResponseSerializer<Data> {
        serializer(DataRequest.dataResponseSerializer())
    }

    /// Returns a serializer of text.
    public static func stringResponseSerializer(
        encoding: String.Encoding? = nil
    ) -> DownloadResponseSerializer<String> {
        serializer(DataRequest.stringResponseSerializer(encoding: encoding))
    }

    /// Returns a serializer of JSON.
    public static func jsonResponseSerializer(
        options: JSONReadingOptions = .allowFragments
    ) -> DownloadResponseSerializer<Any> {
        serializer(DataRequest.jsonResponseSerializer())
    }
}
