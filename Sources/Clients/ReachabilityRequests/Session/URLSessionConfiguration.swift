public import Dispatch
import FoundationEssentials
import ReachabilityRetry
public import ServerTrust

/// The settings of a session that Foundation's class of this name has, as far as they have an effect here.
public final class URLSessionConfiguration {
    /// The maximum time of an attempt until the answer begins, in seconds. While it is 60, the limits of the client apply.
    public var timeoutIntervalForRequest: Double = 60
    /// The maximum time of a request, in seconds. While it is seven days, it is not limited.
    public var timeoutIntervalForResource: Double = 604_800
    /// The header fields that each request has, unless it has its own of that name.
    public var headers: HTTPHeaders
    /// A Boolean value that indicates whether a request waits for a path without a limit. Otherwise it waits at most 30 seconds.
    public var waitsForConnectivity = false
    /// The cookies, by default a new storage; nil if none are sent and kept.
    public var httpCookieStorage: HTTPCookieStorage? = HTTPCookieStorage()
    /// A Boolean value that indicates whether cookies are sent and kept. If false, a field Cookie of the caller is still sent.
    public var httpShouldSetCookies = true
    /// The policy of requests that have ``URLRequest/CachePolicy/useProtocolCachePolicy``.
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

    /// Settings with ``HTTPHeaders/default``.
    public enum WithDefaultHeaders {
        /// New settings.
        public static var `default`: URLSessionConfiguration { URLSessionConfiguration(.default) }
        /// New settings.
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

    fileprivate var settings: RetrySettings {
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

extension Session {
    /// A session with the settings of a configuration, in the form of Alamofire.
    ///
    /// - Parameters:
    ///   - configuration: The settings. They may be changed afterwards without an effect.
    ///   - rootQueue: No effect.
    ///   - startRequestsImmediately: True if a request is sent by its first handler, and at most 50 ms after its creation without one.
    ///   - requestSetup: When a request is adapted.
    ///   - requestQueue: No effect.
    ///   - serializationQueue: No effect.
    ///   - interceptor: Asked before every attempt, and about failures.
    ///   - redirectHandler: The handler of redirects.
    ///   - eventMonitors: Receive events.
    @_disfavoredOverload
    public convenience init(
        configuration: URLSessionConfiguration = .af.default,
        rootQueue: DispatchQueue? = nil,
        startRequestsImmediately: Bool = true,
        requestSetup: RequestSetup = .lazy,
        requestQueue: DispatchQueue? = nil,
        serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil,
        eventMonitors: [any EventMonitor] = []
    ) {
        var headers = configuration.headers
        if configuration.requestCachePolicy.bypassesRemoteCaches, headers["Cache-Control"] == nil {
            headers.add(URLRequest.noCache)
        }
        self.init(
            settings: configuration.settings,
            headers: headers,
            startRequestsImmediately: startRequestsImmediately,
            requestSetup: requestSetup,
            interceptor: interceptor,
            serverTrustManager: serverTrustManager,
            redirectHandler: redirectHandler,
            cookieStorage: configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil,
            eventMonitors: eventMonitors
        )
    }
}
