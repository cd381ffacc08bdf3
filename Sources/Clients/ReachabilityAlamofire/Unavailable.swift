public import FoundationEssentials
public import ReachabilityRequests

// Names of Alamofire and Foundation that cannot exist on Linux. The compiler's message names the alternative.

/// Not available.
@available(
    *,
    unavailable,
    message: "there is no URLSession: use redirect(using:), authenticate(with:) or an EventMonitor"
)
public final class SessionDelegate {
    /// Not available.
    public init(fileManager: FileManager = .default) {}
}

extension Session {
    /// Not available.
    @available(*, unavailable, message: "use redirect(using:), authenticate(with:) or an EventMonitor")
    public var delegate: SessionDelegate { fatalError("unavailable") }

    /// Not available.
    @available(
        *,
        unavailable,
        message: "set timeouts and header fields of the configuration before the session is created"
    )
    public var session: Session { self }

    /// Not available.
    @available(
        *,
        unavailable,
        message: "a process on Linux is not suspended: use a service, or an outbox (ReachabilityOutbox)"
    )
    public var backgroundCompletionHandler: (() -> Void)? {
        get { nil }
        set {}
    }
}

extension DataRequest {
    /// Not available.
    @available(*, unavailable, message: "use streamRequest(_:) of the session")
    @discardableResult
    public func stream(closure: ((Data) -> Void)? = nil) -> Self { self }
}

extension DataStreamRequest {
    /// Not available.
    @available(*, unavailable, message: "an InputStream can only be sent: use for try await piece in request { }")
    public func asInputStream(bufferSize: Int = 1024) -> InputStream? { nil }
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
    public enum Behavior: Sendable {
        /// Not available.
        case cache, doNotCache
        /// Not available.
        case modify(@Sendable (_ task: URLSessionTask, _ cachedResponse: CachedURLResponse) -> CachedURLResponse?)
    }

    /// Not available.
    public static let cache = ResponseCacher(behavior: .cache)
    /// Not available.
    public static let doNotCache = ResponseCacher(behavior: .doNotCache)

    /// Not available.
    public init(behavior: Behavior) {}
}

extension Request {
    /// Not available.
    @discardableResult
    @available(*, unavailable, message: "answers are not cached: remove the call")
    public func cacheResponse(using handler: ResponseCacher) -> Self { self }
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

    /// Not available.
    @discardableResult
    @available(*, unavailable, message: "use swift-nio for TCP; for a stream of answers use streamRequest(_:)")
    public func stream(withHostName hostName: String, port: Int) -> DataStreamRequest { streamRequest(hostName) }
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
