public import FoundationEssentials
import LinuxSupport
import ReachabilityRetry

/// A request before it is sent: URL, method, header fields and body. A value with the members of Foundation's structure of this name.
public struct URLRequest: Hashable, Sendable {
    /// The use of cached answers. This library does not cache answers, so most policies load from the server.
    public enum CachePolicy: UInt, Hashable, Sendable {
        /// Cached answers are used as HTTP permits.
        case useProtocolCachePolicy = 0
        /// The answer comes from the server.
        case reloadIgnoringLocalCacheData = 1
        /// A cached answer of any age, else from the server.
        case returnCacheDataElseLoad = 2
        /// Only a cached answer is permitted. The result is always ``NotCached``.
        case returnCacheDataDontLoad = 3
        /// The answer comes from the server, not from caches on the path: the request has the field `Cache-Control: no-cache`.
        case reloadIgnoringLocalAndRemoteCacheData = 4
        /// A cached answer if the server confirms it.
        case reloadRevalidatingCacheData = 5

        /// Another name of ``reloadIgnoringLocalCacheData``.
        public static let reloadIgnoringCacheData = CachePolicy.reloadIgnoringLocalCacheData

        package var bypassesRemoteCaches: Bool { self == .reloadIgnoringLocalAndRemoteCacheData }
    }

    /// The field for ``CachePolicy/reloadIgnoringLocalAndRemoteCacheData``.
    package static let noCache = HTTPHeader(name: "Cache-Control", value: "no-cache")

    /// The URL as it is sent.
    package var text: String
    /// The method as it is sent.
    package var sentMethod: HTTPMethod
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body in memory.
    public var httpBody: Data?
    /// The body that is read while it is sent.
    public var httpBodyStream: InputStream?
    /// The use of cached answers.
    public var cachePolicy = CachePolicy.useProtocolCachePolicy
    /// A Boolean value that indicates whether the cookies of the session are sent, and those of the answers kept. A field Cookie of the
    /// request is sent in any case, and replaces the cookies of the session.
    public var httpShouldHandleCookies = true
    /// The maximum time of an attempt until the answer begins, in seconds; nil for the limits of the session.
    var timeout: Double?

    package init(text: String, method: HTTPMethod = .get, headers: HTTPHeaders = HTTPHeaders(), body: Data? = nil) {
        self.text = text
        self.sentMethod = method
        self.headers = headers
        self.httpBody = body
    }

    /// Creates a GET request.
    public init(url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: Double = 60) {
        self.init(text: url.absoluteString)
        self.cachePolicy = cachePolicy
        if timeoutInterval != 60 { timeout = timeoutInterval }
    }

    /// Creates a request.
    ///
    /// - Throws: The error of the URL, ``AFError/invalidURL(url:)`` if it is a text.
    public init(url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders? = nil) throws {
        self.init(text: try url.text(), method: method, headers: headers ?? HTTPHeaders())
    }
}

extension URLRequest {
    /// The URL, or nil.
    public var url: URL? {
        get { URL(string: text) }
        set { text = newValue?.absoluteString ?? "" }
    }

    /// The method. Nil stands for GET.
    public var method: HTTPMethod? {
        get { sentMethod }
        set { sentMethod = newValue ?? .get }
    }

    /// The maximum time of an attempt until the answer begins, in seconds. While it is 60, the limits of the session apply.
    public var timeoutInterval: Double {
        get { timeout ?? 60 }
        set { timeout = newValue }
    }

    /// Checks whether the request can be sent.
    ///
    /// - Throws: ``AFError/urlRequestValidationFailed(reason:)`` if a GET request has a body.
    public func validate() throws {
        if sentMethod == .get, let httpBody {
            throw AFError.urlRequestValidationFailed(reason: .bodyDataInGETRequest(httpBody))
        }
    }
}

extension URLRequest {
    /// The request in the form of the retry engine, without the body.
    var plain: RequestHead {
        let fields = headers.map { RequestHead.Field(name: $0.name, value: $0.value) }
        return RequestHead(method: sentMethod, url: text, fields: fields)
    }

    /// Returns the request with the URL, the method and the fields of a hop. A redirect that changes the method leaves the body out.
    ///
    /// - Parameter others: The fields of the session, which are left out unless the request has them.
    func replacing(by plain: RequestHead, without others: HTTPHeaders) -> URLRequest {
        if plain.url == text, plain.method == sentMethod { return self }
        var plain = plain
        plain.fields.removeAll { headers[$0.name] == nil && others[$0.name] != nil }
        var request = replacingHead(by: plain)
        if plain.method != sentMethod { (request.httpBody, request.httpBodyStream) = (nil, nil) }
        return request
    }

    /// Returns the request with the URL, the method and the fields of another one.
    func replacingHead(by plain: RequestHead) -> URLRequest {
        var request = self
        request.text = plain.url
        request.sentMethod = plain.method
        request.headers = HTTPHeaders(plain.fields.map { HTTPHeader(name: $0.name, value: $0.value) })
        return request
    }

    /// Returns the request with the given fields, except those that the hop does not have and those that the request already has.
    func adding(_ headers: HTTPHeaders, of hop: RequestHead) -> URLRequest {
        adding(HTTPHeaders(headers.filter { hop[$0.name] != nil }))
    }

    /// Returns the request with the given fields, except those that it already has.
    func adding(_ headers: HTTPHeaders) -> URLRequest {
        var request = self
        for header in headers where self.headers[header.name] == nil { request.headers.add(header) }
        return request
    }
}

/// A type that has a URL.
public protocol URLConvertible: Sendable {
    /// Returns the URL.
    ///
    /// - Throws: ``AFError/invalidURL(url:)`` if there is none.
    func asURL() throws -> URL
}

extension String: URLConvertible {
    /// Returns the URL of the text.
    public func asURL() throws -> URL {
        guard let url = URL(string: self) else { throw AFError.invalidURL(url: self) }
        return url
    }
}

extension URL: URLConvertible {
    /// Returns the URL itself.
    public func asURL() throws -> URL { self }
}

extension URLComponents: URLConvertible {
    /// Returns the URL of the components.
    public func asURL() throws -> URL {
        guard let url else { throw AFError.invalidURL(url: self) }
        return url
    }
}

extension URLConvertible {
    /// Returns the URL as text. A text without characters that a URL must not have is not parsed here, because the client parses it again.
    fileprivate func text() throws -> String {
        if let text = self as? String, text.utf8.allSatisfy(\.isPlainInURL), text.hasPrefix("http") { return text }
        return try asURL().absoluteString
    }
}

extension UInt8 {
    /// A Boolean value that indicates whether it is an unreserved or reserved character of RFC 3986, except for `[` and `]`.
    fileprivate var isPlainInURL: Bool {
        switch self {
        case 0x21, 0x23, 0x24, 0x26...0x3b, 0x3d, 0x3f...0x5a, 0x5f, 0x61...0x7a, 0x7e: true
        default: false
        }
    }
}

/// A type that has a request, for example a router.
public protocol URLRequestConvertible: Sendable {
    /// Returns the request.
    func asURLRequest() throws -> URLRequest
}

extension URLRequestConvertible {
    /// The request, or nil.
    public var urlRequest: URLRequest? { try? asURLRequest() }

    /// Creates the request, if it can be sent.
    func request() -> Result<URLRequest, AFError> {
        Result {
            var request = try asURLRequest()
            try request.validate()
            if request.cachePolicy == .returnCacheDataDontLoad { throw AFError.sessionTaskFailed(error: NotCached()) }
            if request.cachePolicy.bypassesRemoteCaches { request = request.adding([URLRequest.noCache]) }
            return request
        }.mapError { $0.asAFError(or: .createURLRequestFailed(error: $0)) }
    }
}

extension URLRequest: URLRequestConvertible {
    /// Returns the request itself.
    public func asURLRequest() throws -> URLRequest { self }
}

/// A body that is read while it is sent: bytes, a file or a form. It stands for Foundation's class of this name, but can be read any number
/// of times, so that a request with it can be sent again.
public final class InputStream: Sendable {
    let pieces: [BodyPiece]
    let throttle: Throttle?

    init(pieces: [BodyPiece], _ throttle: Throttle? = nil) { (self.pieces, self.throttle) = (pieces, throttle) }

    /// Creates a stream of bytes.
    public convenience init(data: Data) { self.init(pieces: [.bytes([UInt8](data))]) }

    /// Creates a stream of a file; nil if it cannot be read.
    public convenience init?(fileAtPath path: String) {
        guard let length = try? FilePart.length(of: path) else { return nil }
        self.init(pieces: [.file(path, length: length)])
    }

    /// Creates a stream of a file; nil if it cannot be read.
    public convenience init?(url: URL) {
        guard url.isFileURL else { return nil }
        self.init(fileAtPath: url.path)
    }

    /// Returns the same stream, sent in packets of at most this size in bytes, with a delay in seconds before each.
    public func throttled(packetSize: Int, delay: Double) -> InputStream {
        InputStream(pieces: pieces, Throttle(packetSize: packetSize, delay: delay))
    }

    /// The number of bytes.
    var length: Int64 { pieces.reduce(0) { $0 + $1.length } }
}

extension InputStream: Hashable {
    /// Returns whether both are the same object.
    public static func == (one: InputStream, other: InputStream) -> Bool { one === other }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
