public import FoundationEssentials
import ReachabilityRetry

/// Encodes a value into a request.
public protocol ParameterEncoder: Sendable {
    /// Returns the request with the parameters; the same request without parameters.
    func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest
}

/// Parameters as JSON in the body, with the content type `application/json` unless another is set.
public struct JSONParameterEncoder: ParameterEncoder {
    private let encoder: JSONEncoder

    /// An encoder that writes one line.
    public static let `default` = JSONParameterEncoder()
    /// An encoder that writes line breaks and indentation.
    public static let prettyPrinted = JSONParameterEncoder(.prettyPrinted)
    /// An encoder that sorts keys.
    public static let sortedKeys = JSONParameterEncoder(.sortedKeys)

    /// Creates an encoder with the settings of another, which must not be changed afterwards.
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
    /// Returns the request with a value as JSON.
    package func adding(json value: some Encodable, by encoder: JSONEncoder) throws -> URLRequest {
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

/// Parameters as names and values, in the query or in the body.
public struct URLEncodedFormParameterEncoder: ParameterEncoder {
    /// The place of the parameters.
    public enum Destination: Hashable, Sendable {
        /// The query for GET, HEAD and DELETE, the body for other methods.
        case methodDependent
        /// The query, after an existing one.
        case queryString
        /// The parameters are in the body.
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

    /// An encoder with the default settings.
    public static let `default` = URLEncodedFormParameterEncoder()

    private let encoder: URLEncodedFormEncoder
    private let destination: Destination

    /// Creates an encoder of names and values for a place of the parameters.
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

extension URLRequest {
    /// Returns the request with an encoded form.
    package func adding(form: String, to destination: URLEncodedFormParameterEncoder.Destination) -> URLRequest {
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
