import FoundationEssentials
public import ReachabilityRequests

public import class Foundation.JSONSerialization

/// Parameters of no particular type: text, numbers, Boolean values, and arrays and dictionaries of them.
public typealias Parameters = [String: any Sendable]

/// Encodes parameters of no particular type into a request.
public protocol ParameterEncoding: Sendable {
    /// Returns the request with the parameters; the same request if they are nil.
    ///
    /// - Throws: `AFError.parameterEncodingFailed(reason:)`
    func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}

/// Parameters as names and values, in the query or in the body.
public struct URLEncoding: ParameterEncoding {
    /// The place of the parameters.
    public typealias Destination = URLEncodedFormParameterEncoder.Destination
    /// The name of an element of an array.
    public typealias ArrayEncoding = URLEncodedFormEncoder.ArrayEncoding
    /// The text of a Boolean value.
    public typealias BoolEncoding = URLEncodedFormEncoder.BoolEncoding

    /// An encoding in the query or in the body, depending on the method.
    public static let `default` = URLEncoding()
    /// An encoding in the query.
    public static let queryString = URLEncoding(destination: .queryString)
    /// An encoding in the body.
    public static let httpBody = URLEncoding(destination: .httpBody)

    /// The place of the parameters.
    public let destination: Destination
    /// The name of an element of an array.
    public let arrayEncoding: ArrayEncoding
    /// The text of a Boolean value.
    public let boolEncoding: BoolEncoding

    /// Creates an encoding.
    public init(
        destination: Destination = .methodDependent,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric
    ) {
        self.destination = destination
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
    }

    /// Encodes the parameters, sorted by name.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        let request = try urlRequest.asURLRequest()
        guard let parameters, !parameters.isEmpty else { return request }
        let pairs = parameters.sorted { $0.key < $1.key }.flatMap { queryComponents(fromKey: $0.key, value: $0.value) }
        return request.adding(form: pairs.map { "\($0)=\($1)" }.joined(separator: "&"), to: destination)
    }

    /// Returns a parameter as percent-encoded names and values.
    public func queryComponents(fromKey key: String, value: Any) -> [(String, String)] {
        switch value {
        case let parts as [String: Any]:
            parts.sorted { $0.key < $1.key }.flatMap { queryComponents(fromKey: "\(key)[\($0.key)]", value: $0.value) }
        case let elements as [Any]:
            elements.enumerated().flatMap { index, element in
                queryComponents(fromKey: arrayEncoding.encode(key, atIndex: index), value: element)
            }
        // A number of Foundation can be cast to Bool.
        case let value as any LooseNumber where !value.isBoolean: [(escape(key), escape("\(value)"))]
        case let value as Bool: [(escape(key), escape(boolEncoding.encode(value)))]
        // A nil value is omitted.
        case let value as any OptionalValue: value.wrapped.map { queryComponents(fromKey: key, value: $0) } ?? []
        default: [(escape(key), escape("\(value)"))]
        }
    }

    /// Returns a text, percent-encoded for a query.
    public func escape(_ string: String) -> String { QueryEscaping.escape(string) }
}

/// Parameters as JSON in the body, with sorted keys and the content type `application/json` unless another is set.
public struct JSONEncoding: ParameterEncoding {
    /// An encoding on one line.
    public static let `default` = JSONEncoding()
    /// An encoding with line breaks and indentation.
    public static let prettyPrinted = JSONEncoding(options: .prettyPrinted)

    private let formatting: JSONEncoder.OutputFormatting

    /// Creates an encoding with these options. Keys are sorted in any case.
    public init(options: JSONSerialization.WritingOptions = []) {
        var formatting = JSONEncoder.OutputFormatting.sortedKeys
        if options.contains(.prettyPrinted) { formatting.insert(.prettyPrinted) }
        if options.contains(.withoutEscapingSlashes) { formatting.insert(.withoutEscapingSlashes) }
        self.formatting = formatting
    }

    /// Encodes the parameters, sorted by name.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        let request = try urlRequest.asURLRequest()
        guard let parameters else { return request }
        return try encode(LooseEncodable(value: parameters), into: request)
    }

    /// Encodes a value of any shape: an array, for example.
    public func encode(
        _ urlRequest: any URLRequestConvertible,
        withJSONObject jsonObject: (any Sendable)? = nil
    ) throws -> URLRequest {
        let request = try urlRequest.asURLRequest()
        guard let jsonObject else { return request }
        return try encode(LooseEncodable(value: jsonObject), into: request)
    }

    private func encode(_ value: LooseEncodable, into request: URLRequest) throws -> URLRequest {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        return try request.adding(json: value, by: encoder)
    }
}

extension ParameterEncoding where Self == URLEncoding {
    /// Names and values, in the query or in the body.
    public static var urlEncoding: URLEncoding { .default }
}

extension ParameterEncoding where Self == JSONEncoding {
    /// JSON on one line.
    public static var jsonEncoding: JSONEncoding { .default }
}

/// A number or a Boolean value among those of no particular type: `NSNumber`.
protocol LooseNumber: Sendable {
    /// A Boolean value that indicates whether it is `true` or `false`, and not 1 or 0.
    var isBoolean: Bool { get }
}

/// An optional value among those of no particular type.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self }
}

/// A value of no particular type, for JSON or for a property list.
struct LooseEncodable: Encodable {
    let value: Any
    let isPropertyList: Bool

    init(value: Any, isPropertyList: Bool = false) {
        (self.value, self.isPropertyList) = (value, isPropertyList)
    }

    func encode(to encoder: any Encoder) throws {
        switch value {
        // Data is a sequence, but not one of elements.
        case let value as any Encodable where isPlain(value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case let parts as [String: Any]: try parts.mapValues(other).encode(to: encoder)
        case let elements as [Any]: try elements.map(other).encode(to: encoder)
        case let value as any OptionalValue where value.wrapped != nil || !isPropertyList:
            if let wrapped = value.wrapped { return try other(wrapped).encode(to: encoder) }
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        default:
            let context = EncodingError.Context(
                codingPath: encoder.codingPath,
                debugDescription: "\(isPropertyList ? "a property list" : "JSON") has no \(type(of: value))"
            )
            throw EncodingError.invalidValue(value, context)
        }
    }

    private func other(_ value: Any) -> LooseEncodable { LooseEncodable(value: value, isPropertyList: isPropertyList) }

    private func isPlain(_ value: any Encodable) -> Bool {
        value is String || value is Bool || value is any BinaryInteger || value is any BinaryFloatingPoint
            || (isPropertyList ? value is Date || value is Data : value is Decimal)
    }
}

extension ParameterEncoding {
    /// Returns the request with parameters of Alamofire 4.
    @_disfavoredOverload
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: [String: Any]?) throws -> URLRequest {
        try encode(urlRequest, with: parameters.map(Parameters.init(untyped:)))
    }
}

extension [String: any Sendable] {
    /// Creates the parameters of a dictionary whose values are not known to be `Sendable`.
    init(untyped parameters: [String: Any]) { self = parameters.mapValues(Self.sendable) }

    private static func sendable(_ value: Any) -> any Sendable {
        switch value {
        case let value as [String: Any]: value.mapValues(sendable)
        case let value as [Any]: value.map(sendable)
        case let value as String: value
        // A number of Foundation can be cast to Bool.
        case let value as any LooseNumber: value
        case let value as Bool: value
        case let value as Int: value
        case let value as Double: value
        case let value as any BinaryInteger & Sendable: value
        case let value as Float: value
        case let value as Decimal: value
        case Optional<Any>.none: String?.none
        default: OtherParameter(description: "\(value)")
        }
    }
}

/// A parameter that is neither text nor a number. It has a text in a form, and none in JSON.
private struct OtherParameter: Sendable, CustomStringConvertible {
    let description: String
}

extension Session {
    /// Creates a request with parameters of no particular type.
    @discardableResult
    public func request(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        let composed = ComposedRequest(convertible, method, headers, requestModifier) {
            try encoding.encode($0, with: parameters)
        }
        return request(composed, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// Creates a download with parameters of no particular type.
    @discardableResult
    public func download(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        let composed = ComposedRequest(convertible, method, headers, requestModifier) {
            try encoding.encode($0, with: parameters)
        }
        return download(
            composed,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume,
            to: destination
        )
    }
}
