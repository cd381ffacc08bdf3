public import FoundationEssentials
@_exported public import ReachabilityRequests
@_exported public import ReachabilityRetry

@_exported public import typealias AlamofireFoundationNames.HTTPURLResponse
@_exported public import typealias AlamofireFoundationNames.URLRequest

// For code that was written for Alamofire, and imports this in its place. The names that Alamofire and the modules below use for different
// things are Alamofire's here; import this module alone, or they are ambiguous.

/// An adapter: `adapt(_:for:completion:)`.
public typealias RequestAdapter = SessionAdapter
/// A retrier: `retry(_:for:dueTo:completion:)`.
public typealias RequestRetrier = SessionRetrier
/// Both.
public typealias RequestInterceptor = SessionInterceptor
/// An adapter of Alamofire 4: `adapt(_:) throws`.
public typealias Alamofire4Adapter = ReachabilityRetry.RequestAdapter
/// A request as retriers see it, failed.
public typealias Request = FailedRequest
/// Alamofire 4's name of the session.
public typealias SessionManager = Session

// swift-format-ignore: AlwaysUseLowerCamelCase
/// A session with each setting's default.
public let AF = Session()

extension Error {
    /// The error as `AFError`; nil where it is another.
    public var asAFError: AFError? { self as? AFError }
}

extension PlainRequest {
    /// A GET request.
    public init(url: URL) { self.init(url: url.absoluteString) }
}

extension Session {
    /// A request without a body. It is sent at once, unless the session says otherwise.
    @discardableResult
    public func request(
        _ urlRequest: PlainRequest,
        interceptor: (any ReachabilityRetry.RequestInterceptor)? = nil
    ) -> DataRequest {
        let outgoing = OutgoingRequest(url: urlRequest.url, method: urlRequest.method, headers: urlRequest.headers)
        return request(outgoing, interceptor: interceptor)
    }

    /// A request. It is sent at once, unless the session says otherwise.
    @discardableResult
    public func request(
        _ url: URL,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = HTTPHeaders(),
        interceptor: (any ReachabilityRetry.RequestInterceptor)? = nil
    ) -> DataRequest {
        request(url.absoluteString, method: method, headers: headers, interceptor: interceptor)
    }
}

extension SessionRetrier {
    /// Asks about a request that was not sent, or has ended, as one that has failed with this error.
    public func retry(
        _ request: DataRequest,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        let stage = (error as? AFError)?.responseCode.map { FailureStage.answered(status: $0) }
        let failed = FailedRequest(request: request.request.plain, retryCount: request.retryCount, stage: stage)
        retry(failed, for: session, dueTo: error, completion: completion)
    }
}

/// What adapters use of Foundation's structure.
extension PlainRequest {
    /// The name of the method; nil for GET.
    public var httpMethod: String? {
        get { method.rawValue }
        set { method = RequestMethod(rawValue: newValue ?? "GET") }
    }

    /// The header fields. Setting them replaces all.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(fields.map { HTTPHeader(name: $0.name, value: $0.value) }) }
        set { fields = newValue.map { Field(name: $0.name, value: $0.value) } }
    }

    /// The header fields. Nil removes all.
    public var allHTTPHeaderFields: [String: String]? {
        get { headers.dictionary }
        set { headers = HTTPHeaders(newValue ?? [:]).sorted() }
    }

    /// The value of a header field; nil where there is none.
    public func value(forHTTPHeaderField name: String) -> String? { self[name] }

    /// Sets a header field; nil removes it.
    public mutating func setValue(_ value: String?, forHTTPHeaderField name: String) { self[name] = value }

    /// Adds a value to a header field.
    public mutating func addValue(_ value: String, forHTTPHeaderField name: String) {
        if let place = fields.firstIndex(where: { $0.name.lowercased() == name.lowercased() }) {
            fields[place].value += ",\(value)"
        } else {
            fields.append(Field(name: name, value: value))
        }
    }
}
