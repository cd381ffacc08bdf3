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
