// Names of Alamofire and Foundation that cannot exist on Linux. Code that uses them does not compile, and the message names the alternative.

/// The type of ``URLSessionConfiguration/urlCache``, which is always nil.
public enum URLCache: Sendable {
    /// Not available.
    @available(
        *,
        unavailable,
        message: "answers are not cached: keep the values in the program, or use a caching proxy"
    )
    public static var shared: URLCache { fatalError() }

    /// Not available.
    @available(*, unavailable, message: "answers are not cached: set urlCache to nil, or use a caching proxy")
    public init(memoryCapacity: Int, diskCapacity: Int, diskPath: String? = nil) { fatalError() }
}

/// Not available.
@available(*, unavailable, message: "answers are not cached: keep the values in the program, or use a caching proxy")
public enum CachedURLResponse {}

/// Not available.
@available(*, unavailable, message: "answers are not cached: remove it")
public protocol CachedResponseHandler {}

/// Not available.
@available(*, unavailable, message: "answers are not cached: remove it")
public struct ResponseCacher: Sendable {
    /// Not available.
    public static let cache = ResponseCacher()
    /// Not available.
    public static let doNotCache = ResponseCacher()
}

extension Request {
    /// Not available.
    @discardableResult
    @available(*, unavailable, message: "answers are not cached: remove the call")
    public func cacheResponse(using handler: ResponseCacher) -> Self { self }
}

extension URLSessionConfiguration {
    /// Not available.
    @available(*, unavailable, message: "a process is not suspended: use a service, or an outbox (ReachabilityOutbox)")
    public static func background(withIdentifier identifier: String) -> URLSessionConfiguration { .default }

    /// Not available.
    @available(*, unavailable, message: "classes of URLProtocol do not exist: use an interceptor, or a test server")
    public var protocolClasses: [AnyClass]? {
        get { nil }
        set {}
    }
}

extension Session {
    /// Not available.
    @discardableResult
    @available(
        *,
        unavailable,
        message: "use a library for WebSocket, for example websocket-kit; for a stream of answers use streamRequest(_:)"
    )
    public func webSocketRequest(to url: any URLConvertible) -> DataStreamRequest { streamRequest(url) }
}

/// Not available.
@available(*, unavailable, message: "use a library for WebSocket, for example websocket-kit")
public enum WebSocketRequest {}

/// Not available.
@available(*, unavailable, message: "use ServerTrust: a certificate chain is evaluated by a ServerTrustEvaluating type")
public enum SecTrust {}

/// Not available.
@available(*, unavailable, message: "use Certificate of swift-certificates, or the file of the certificate")
public enum SecCertificate {}

/// Not available.
@available(*, unavailable, message: "use PublicKeysTrustEvaluator of ServerTrust with the file of the key")
public enum SecKey {}
