public import Dispatch
public import FoundationEssentials
import LinuxSupport
public import ReachabilityRequests
public import ReachabilityRetry

public import class Foundation.JSONSerialization
public import class Foundation.NSNull

// Values of no particular type.

/// The body as dictionaries, arrays, text, numbers and Boolean values, from JSON. Null and a permitted empty body are `NSNull`.
///
/// Prefer `DecodableResponseSerializer`, whose values have types.
public struct JSONResponseSerializer: ResponseSerializer {
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
        emptyRequestMethods: Set<HTTPMethod> = defaultEmptyRequestMethods,
        options: JSONSerialization.ReadingOptions = .fragmentsAllowed
    ) {
        self.dataPreprocessor = dataPreprocessor
        (self.emptyResponseCodes, self.emptyRequestMethods) = (emptyResponseCodes, emptyRequestMethods)
    }

    /// Returns the value, `[String: any Sendable]` for an object. It can be cast to `[String: Any]`.
    public func serialize(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        error: (any Error)?
    ) throws -> any Sendable {
        guard let content = try content(request, response, data, error) else { return NSNull() }
        do {
            return try JSONDecoder().decode(LooseValue.self, from: content).value
        } catch {
            let cause = response.map { error.naming(pageOf: $0) } ?? error
            let error = CocoaError(.propertyListReadCorrupt, userInfo: ["NSUnderlyingError": cause])
            throw AFError.responseSerializationFailed(reason: .jsonSerializationFailed(error: error))
        }
    }
}

/// The body as dictionaries, arrays, text, numbers, Boolean values, dates and bytes, from a property list.
///
/// Prefer `DecodableResponseSerializer` with a `PropertyListDecoder`, whose values have types.
public struct PropertyListResponseSerializer: ResponseSerializer {
    /// Creates a serializer.
    public init() {}

    /// Returns the value, `[String: any Sendable]` for a dictionary. It can be cast to `[String: Any]`.
    ///
    /// The list is binary, or XML in UTF-8. More than 512 levels are an error. More values than bytes are an error, too. A binary list has
    /// them if it refers to the same containers again and again.
    public func serialize(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        error: (any Error)?
    ) throws -> any Sendable {
        guard let content = try content(request, response, data, error) else { return NSNull() }
        do {
            let decoder = PropertyListDecoder()
            decoder.userInfo[LooseValue.limit] = LooseValue.Limit(content.count)
            return try decoder.decodeAnswer(LooseValue.self, from: content).value
        } catch {
            throw AFError.responseSerializationFailed(reason: .customSerializationFailed(error: error))
        }
    }
}

extension SerializedRequest {
    /// Calls the handler with dictionaries, arrays, text, numbers and Boolean values.
    @discardableResult
    public func responseJSON(
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
        options: JSONSerialization.ReadingOptions = .fragmentsAllowed,
        completionHandler: @escaping @Sendable (AFDataResponse<Any>) -> Void
    ) -> Self {
        let serializer = JSONResponseSerializer(
            dataPreprocessor: dataPreprocessor,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
        return response(to: serializer, queue) { completionHandler($0.map { $0 }) }
    }

    /// Calls the handler with dictionaries, arrays, text, numbers, Boolean values, dates and bytes of a property list.
    @discardableResult
    public func responsePropertyList(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDataResponse<Any>) -> Void
    ) -> Self {
        response(to: PropertyListResponseSerializer(), queue) { completionHandler($0.map { $0 }) }
    }
}

/// Parameters as a property list in the body, with the content type `application/x-plist` unless another is set.
public struct PropertyListEncoding: ParameterEncoding {
    /// An encoding in the XML format.
    public static let `default` = PropertyListEncoding()
    /// An encoding in the XML format.
    public static let xml = PropertyListEncoding()
    /// An encoding in the binary format.
    public static let binary = PropertyListEncoding(format: .binary)

    /// The format of the property list.
    public let format: PropertyListDecoder.PropertyListFormat

    /// Creates an encoding.
    ///
    /// - Parameters:
    ///   - format: The format, XML or binary.
    ///   - options: Not used.
    public init(format: PropertyListDecoder.PropertyListFormat = .xml, options: Int = 0) { self.format = format }

    /// Encodes the parameters. `Date` and `Data` are permitted, nil is not.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let parameters else { return request }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        do {
            request.httpBody = try encoder.encode(LooseEncodable(value: parameters, isPropertyList: true))
        } catch {
            throw AFError.parameterEncodingFailed(reason: .customEncodingFailed(error: error))
        }
        if request.headers["Content-Type"] == nil { request.headers.add(.contentType("application/x-plist")) }
        return request
    }
}

/// A value of any shape.
private struct LooseValue: Decodable {
    /// The key of the limit in the user info of a decoder.
    static let limit = CodingUserInfoKey(rawValue: "limit") ?? { preconditionFailure() }()

    /// The number of values that may still be read.
    final class Limit: Sendable {
        private let rest: Locked<Int>

        init(_ count: Int) { rest = Locked(count) }

        func take() -> Bool {
            rest.withLock { rest in
                rest -= 1
                return rest >= 0
            }
        }
    }

    let value: any Sendable

    init(from decoder: any Decoder) throws {
        // Only for property lists.
        let limit = decoder.userInfo[Self.limit] as? Limit
        guard limit?.take() ?? true, decoder.codingPath.count <= PropertyList.maximumDepth else {
            let context = DecodingError.Context(codingPath: [], debugDescription: "it has too many values or levels")
            throw DecodingError.dataCorrupted(context)
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = NSNull()
        } else if let flag = try? container.decode(Bool.self) {
            value = flag
        } else if let number = try? container.decode(Int.self) {
            value = number
        } else if let number = try? container.decode(Double.self) {
            value = number
        } else if let text = try? container.decode(String.self) {
            value = text
        } else if limit != nil, let bytes = try? container.decode(Data.self) {
            value = bytes
        } else if limit != nil, let date = try? container.decode(Date.self) {
            value = date
        } else if var elements = try? decoder.unkeyedContainer() {
            var values: [any Sendable] = []
            while !elements.isAtEnd { values.append(try elements.decode(LooseValue.self).value) }
            value = values
        } else {
            value = try container.decode([String: LooseValue].self).mapValues(\.value)
        }
    }
}
