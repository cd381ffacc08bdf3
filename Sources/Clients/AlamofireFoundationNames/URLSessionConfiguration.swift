import FoundationEssentials
public import ReachabilityRequests

/// The settings of a session that Foundation's class of this name has, as far as they have an effect here.
public final class URLSessionConfiguration {
    /// The maximum time of an attempt until the answer begins, in seconds. While it is 60, the limits of the client apply.
    public var timeoutIntervalForRequest: Double = 60
    /// The maximum time of a request, in seconds. The default of seven days means that the time is not limited.
    public var timeoutIntervalForResource: Double = 604_800
    /// The header fields that each request has, unless it has its own of that name.
    public var headers: HTTPHeaders
    /// A Boolean value that indicates whether a request waits for a path without a limit. Otherwise it waits at most 30 seconds.
    public var waitsForConnectivity = false
    /// The cookies, by default a new storage; nil if none are sent and kept.
    public var httpCookieStorage: HTTPCookieStorage? = HTTPCookieStorage()
    /// A Boolean value that indicates whether cookies are sent and kept. If false, a field Cookie of the caller is still sent.
    public var httpShouldSetCookies = true
    /// The policy of requests that have `useProtocolCachePolicy`.
    public var requestCachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// Always nil, because there is no cache.
    public var urlCache: URLCache?

    /// The policy of ``httpCookieStorage``.
    public var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { httpCookieStorage?.cookieAcceptPolicy ?? .never }
        set { httpCookieStorage?.cookieAcceptPolicy = newValue }
    }

    private init(_ headers: HTTPHeaders) { self.headers = headers }

    /// New settings without header fields.
    public static var `default`: URLSessionConfiguration { URLSessionConfiguration(HTTPHeaders()) }
    /// New settings without header fields. Nothing is ever stored here.
    public static var ephemeral: URLSessionConfiguration { URLSessionConfiguration(HTTPHeaders()) }
    /// The settings with the default header fields.
    public static var af: WithDefaultHeaders.Type { WithDefaultHeaders.self }

    /// Settings with `HTTPHeaders.default`.
    public enum WithDefaultHeaders {
        /// A configuration with the default settings.
        public static var `default`: URLSessionConfiguration { URLSessionConfiguration(.default) }
        /// A configuration with the default settings. Cookies are kept in memory in any case.
        public static var ephemeral: URLSessionConfiguration { URLSessionConfiguration(.default) }
    }

    /// The header fields by name, see ``headers``.
    public var httpAdditionalHeaders: [AnyHashable: Any]? {
        get { headers.dictionary }
        set {
            let fields = (newValue ?? [:]).map { HTTPHeader(name: "\($0.key)", value: "\($0.value)") }
            headers = HTTPHeaders(fields).sorted()
        }
    }

    /// The settings of retries.
    package var settings: RetrySettings {
        var settings = RetrySettings(policy: .singleAttempt)
        if timeoutIntervalForRequest != 60, timeoutIntervalForRequest > 0 {
            settings.options.attemptTimeout = .seconds(min(timeoutIntervalForRequest, 604_800))
        }
        settings.policy = settings.policy.changing { policy in
            if waitsForConnectivity { policy.pathTimeout = nil }
            if timeoutIntervalForResource > 0, timeoutIntervalForResource < 604_800 {
                policy.deadline = .seconds(timeoutIntervalForResource)
            }
        }
        return settings
    }
}

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
