public import FoundationEssentials
import ReachabilityRetry

/// Encodes a value into a request.
public protocol ParameterEncoder: Sendable {
    /// The request with the parameters; the same request without parameters.
    func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest
}

/// Parameters as JSON in the body, with the content type `application/json` unless another is set.
public struct JSONParameterEncoder: ParameterEncoder {
    private let encoder: JSONEncoder

    /// On one line.
    public static let `default` = JSONParameterEncoder()
    /// With line breaks and indentation.
    public static let prettyPrinted = JSONParameterEncoder(.prettyPrinted)
    /// With sorted keys.
    public static let sortedKeys = JSONParameterEncoder(.sortedKeys)

    /// An encoder with the settings of another, which must not be changed afterwards.
    public init(encoder: JSONEncoder = JSONEncoder()) {
        self.encoder = encoder
    }

    private init(_ formatting: JSONEncoder.OutputFormatting) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        self.init(encoder: encoder)
    }

    /// Encodes the parameters into the body.
    public func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        return try request.adding(json: parameters, by: encoder)
    }
}

extension URLRequest {
    /// The request with a value as JSON.
    func adding(json value: some Encodable, by encoder: JSONEncoder) throws -> URLRequest {
        var request = self
        do {
            request.httpBody = try encoder.encode(value)
        } catch {
            throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
        }
        if headers["Content-Type"] == nil { request.headers.add(.contentType("application/json")) }
        return request
    }
}

extension ParameterEncoder where Self == JSONParameterEncoder {
    /// JSON on one line.
    public static var json: JSONParameterEncoder { .default }

    /// JSON.
    ///
    /// - Parameter encoder: The encoder. It must not be changed afterwards.
    public static func json(encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
        JSONParameterEncoder(encoder: encoder)
    }
}

/// Parameters as names and values, in the query or in the body.
public struct URLEncodedFormParameterEncoder: ParameterEncoder {
    /// The place of the parameters.
    public enum Destination: Hashable, Sendable {
        /// The query for GET, HEAD and DELETE, the body for other methods.
        case methodDependent
        /// The query, after an existing one.
        case queryString
        /// The body.
        case httpBody

        func isQuery(for method: HTTPMethod) -> Bool {
            switch self {
            case .methodDependent: [.get, .head, .delete].contains(method)
            case .queryString: true
            case .httpBody: false
            }
        }
    }

    static let contentType = "application/x-www-form-urlencoded; charset=utf-8"

    /// With the default settings.
    public static let `default` = URLEncodedFormParameterEncoder()

    private let encoder: URLEncodedFormEncoder
    private let destination: Destination

    /// An encoder of names and values for a place of the parameters.
    public init(encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(), destination: Destination = .methodDependent) {
        self.encoder = encoder
        self.destination = destination
    }

    /// Encodes the parameters into the query, or into the body.
    public func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        let text: String
        do {
            text = try encoder.encode(parameters)
        } catch {
            throw AFError.parameterEncoderFailed(reason: .encoderFailed(error: error))
        }
        return request.adding(form: text, to: destination)
    }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
    /// Names and values, in the query or in the body.
    public static var urlEncodedForm: URLEncodedFormParameterEncoder { .default }

    /// Names and values.
    public static func urlEncodedForm(
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
        destination: URLEncodedFormParameterEncoder.Destination = .methodDependent
    ) -> URLEncodedFormParameterEncoder {
        URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
    }
}

extension URLRequest {
    /// The request with an encoded form.
    func adding(form: String, to destination: URLEncodedFormParameterEncoder.Destination) -> URLRequest {
        var request = self
        if destination.isQuery(for: sentMethod) {
            request.text = QueryEscaping.append(form, to: text)
        } else {
            if headers["Content-Type"] == nil {
                request.headers.add(.contentType(URLEncodedFormParameterEncoder.contentType))
            }
            request.httpBody = Data(form.utf8)
        }
        return request
    }
}

/// Parameters of no particular type: text, numbers, Boolean values, and arrays and dictionaries of them.
public typealias Parameters = [String: any Sendable]

/// Encodes parameters of no particular type into a request.
public protocol ParameterEncoding: Sendable {
    /// The request with the parameters; the same request if they are nil.
    ///
    /// - Throws: ``AFError/parameterEncodingFailed(reason:)``
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

    /// In the query or in the body, by the method.
    public static let `default` = URLEncoding()
    /// In the query.
    public static let queryString = URLEncoding(destination: .queryString)
    /// In the body.
    public static let httpBody = URLEncoding(destination: .httpBody)

    /// The place of the parameters.
    public let destination: Destination
    /// The name of an element of an array.
    public let arrayEncoding: ArrayEncoding
    /// The text of a Boolean value.
    public let boolEncoding: BoolEncoding

    /// An encoding.
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

    /// One parameter as names and values, percent-encoded.
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

    /// Text, percent-encoded.
    public func escape(_ string: String) -> String { QueryEscaping.escape(string) }
}

/// Parameters as JSON in the body, with the content type `application/json` unless another is set.
public struct JSONEncoding: ParameterEncoding {
    /// On one line.
    public static let `default` = JSONEncoding()
    /// With line breaks and indentation.
    public static let prettyPrinted = JSONEncoding(isPretty: true)

    private let isPretty: Bool

    private init(isPretty: Bool = false) {
        self.isPretty = isPretty
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
        encoder.outputFormatting = isPretty ? [.sortedKeys, .prettyPrinted] : .sortedKeys
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

/// A number or a Boolean value among those of no particular type: `NSNumber`, which this module does not know.
package protocol LooseNumber: Sendable {
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
package struct LooseEncodable: Encodable {
    let value: Any
    let isPropertyList: Bool

    package init(value: Any, isPropertyList: Bool = false) {
        (self.value, self.isPropertyList) = (value, isPropertyList)
    }

    package func encode(to encoder: any Encoder) throws {
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
