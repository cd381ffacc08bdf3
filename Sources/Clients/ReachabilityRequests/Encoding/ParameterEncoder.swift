public import FoundationEssentials
import ReachabilityRetry

/// Puts parameters into a request.
public protocol ParameterEncoder: Sendable {
    /// The request with the parameters in it; as it is where there are none.
    func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?,
        into request: OutgoingRequest
    ) throws(RequestError) -> OutgoingRequest
}

/// Parameters as JSON in the body, with the type `application/json` unless another was set.
public struct JSONParameterEncoder: ParameterEncoder {
    private let encoder: JSONEncoder

    /// On one line.
    public static let `default` = JSONParameterEncoder()
    /// With line breaks and indentation.
    public static let prettyPrinted = JSONParameterEncoder(.prettyPrinted)
    /// With its keys in order.
    public static let sortedKeys = JSONParameterEncoder(.sortedKeys)

    /// - Parameter encoder: Not to be changed from now on.
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
        into request: OutgoingRequest
    ) throws(RequestError) -> OutgoingRequest {
        guard let parameters else { return request }
        return try request.adding(json: parameters, by: encoder)
    }
}

extension OutgoingRequest {
    /// The request with a value as JSON.
    func adding(json value: some Encodable, by encoder: JSONEncoder) throws(RequestError) -> OutgoingRequest {
        var request = self
        do {
            request.body = .bytes([UInt8](try encoder.encode(value)))
        } catch {
            throw .parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
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
    /// - Parameter encoder: Not to be changed from now on.
    public static func json(encoder: JSONEncoder) -> JSONParameterEncoder {
        JSONParameterEncoder(encoder: encoder)
    }
}

/// Parameters as names and values, in the query or in the body.
public struct URLEncodedFormParameterEncoder: ParameterEncoder {
    /// Where they are put.
    public enum Destination: Hashable, Sendable {
        /// The query for GET, HEAD and DELETE, the body for all others.
        case methodDependent
        /// The query, behind what is there.
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

    /// By the method, each setting with its default.
    public static let `default` = URLEncodedFormParameterEncoder()

    private let encoder: URLEncodedFormEncoder
    private let destination: Destination

    /// - Parameters:
    ///   - encoder: How names and values are written.
    ///   - destination: Where they are put.
    public init(encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(), destination: Destination = .methodDependent) {
        self.encoder = encoder
        self.destination = destination
    }

    /// Encodes the parameters into the query, or into the body.
    public func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?,
        into request: OutgoingRequest
    ) throws(RequestError) -> OutgoingRequest {
        guard let parameters else { return request }
        let text: String
        do {
            text = try encoder.encode(parameters)
        } catch {
            throw .parameterEncoderFailed(reason: .encoderFailed(error: error))
        }
        return request.adding(form: text, to: destination)
    }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
    /// Names and values, by the method.
    public static var urlEncodedForm: URLEncodedFormParameterEncoder { .default }

    /// Names and values.
    public static func urlEncodedForm(
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
        destination: URLEncodedFormParameterEncoder.Destination = .methodDependent
    ) -> URLEncodedFormParameterEncoder {
        URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
    }
}

extension OutgoingRequest {
    /// The request with an encoded form.
    func adding(form: String, to destination: URLEncodedFormParameterEncoder.Destination) -> OutgoingRequest {
        var request = self
        if destination.isQuery(for: method) {
            request.url = QueryEscaping.append(form, to: url)
        } else {
            if headers["Content-Type"] == nil {
                request.headers.add(.contentType(URLEncodedFormParameterEncoder.contentType))
            }
            request.body = .bytes(Array(form.utf8))
        }
        return request
    }
}

/// Parameters of no particular type, as Alamofire 4 has them: text, numbers, truth values, and arrays and dictionaries of them.
public typealias Parameters = [String: any Sendable]

/// Puts parameters of no particular type into a request, as Alamofire 4 does.
public protocol ParameterEncoding: Sendable {
    /// The request with the parameters in it; as it is where they are nil.
    func encode(_ request: OutgoingRequest, with parameters: Parameters?) throws(RequestError) -> OutgoingRequest
}

/// Parameters as names and values, in the query or in the body.
public struct URLEncoding: ParameterEncoding {
    /// Where they are put.
    public typealias Destination = URLEncodedFormParameterEncoder.Destination
    /// How the name of an element of an array is made.
    public typealias ArrayEncoding = URLEncodedFormEncoder.ArrayEncoding
    /// How a truth value is written.
    public typealias BoolEncoding = URLEncodedFormEncoder.BoolEncoding

    /// By the method.
    public static let `default` = URLEncoding()
    /// In the query.
    public static let queryString = URLEncoding(destination: .queryString)
    /// In the body.
    public static let httpBody = URLEncoding(destination: .httpBody)

    /// Where they are put.
    public let destination: Destination
    /// How the name of an element of an array is made.
    public let arrayEncoding: ArrayEncoding
    /// How a truth value is written.
    public let boolEncoding: BoolEncoding

    /// See ``URLEncodedFormEncoder``.
    public init(
        destination: Destination = .methodDependent,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric
    ) {
        self.destination = destination
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
    }

    /// Encodes the parameters, their names in order.
    public func encode(_ request: OutgoingRequest, with parameters: Parameters?) throws(RequestError) -> OutgoingRequest
    {
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
        case let value as Bool: [(escape(key), escape(boolEncoding.encode(value)))]
        // What is nil has no text.
        case let value as any OptionalValue: value.wrapped.map { queryComponents(fromKey: key, value: $0) } ?? []
        default: [(escape(key), escape("\(value)"))]
        }
    }

    /// Text, percent-encoded.
    public func escape(_ string: String) -> String { QueryEscaping.escape(string) }
}

/// Parameters as JSON in the body, with the type `application/json` unless another was set.
public struct JSONEncoding: ParameterEncoding {
    /// On one line.
    public static let `default` = JSONEncoding()
    /// With line breaks and indentation.
    public static let prettyPrinted = JSONEncoding(isPretty: true)

    private let isPretty: Bool

    private init(isPretty: Bool = false) {
        self.isPretty = isPretty
    }

    /// Encodes the parameters, their names in order.
    public func encode(_ request: OutgoingRequest, with parameters: Parameters?) throws(RequestError) -> OutgoingRequest
    {
        guard let parameters else { return request }
        let encoder = JSONEncoder()
        encoder.outputFormatting = isPretty ? [.sortedKeys, .prettyPrinted] : .sortedKeys
        return try request.adding(json: AnyJSON(value: parameters), by: encoder)
    }
}

extension ParameterEncoding where Self == URLEncoding {
    /// Names and values, by the method.
    public static var urlEncoding: URLEncoding { .default }
}

extension ParameterEncoding where Self == JSONEncoding {
    /// JSON on one line.
    public static var jsonEncoding: JSONEncoding { .default }
}

/// An optional value among those of no particular type.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self }
}

/// A value of no particular type as JSON.
private struct AnyJSON: Encodable {
    let value: Any

    func encode(to encoder: any Encoder) throws {
        switch value {
        case let parts as [String: Any]: try parts.mapValues { AnyJSON(value: $0) }.encode(to: encoder)
        case let elements as [Any]: try elements.map { AnyJSON(value: $0) }.encode(to: encoder)
        case let value as any OptionalValue:
            if let wrapped = value.wrapped { return try AnyJSON(value: wrapped).encode(to: encoder) }
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case let value as any Encodable where Self.isPlain(value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        default:
            let context = EncodingError.Context(
                codingPath: encoder.codingPath,
                debugDescription: "JSON has no \(type(of: value))"
            )
            throw EncodingError.invalidValue(value, context)
        }
    }

    private static func isPlain(_ value: any Encodable) -> Bool {
        value is String || value is Bool || value is any BinaryInteger || value is any BinaryFloatingPoint
            || value is Decimal
    }
}
