public import Dispatch
@_exported public import NetworkReachability
@_exported public import ReachabilityRequests
@_exported public import ServerTrust

@_exported public import typealias AlamofireFoundationNames.HTTPCookie
@_exported public import struct AlamofireFoundationNames.HTTPCookiePropertyKey
@_exported public import typealias AlamofireFoundationNames.HTTPCookieStorage
@_exported public import typealias AlamofireFoundationNames.HTTPURLResponse
@_exported public import typealias AlamofireFoundationNames.InputStream
@_exported public import typealias AlamofireFoundationNames.Progress
@_exported public import enum AlamofireFoundationNames.URLCache
@_exported public import typealias AlamofireFoundationNames.URLCredential
@_exported public import typealias AlamofireFoundationNames.URLError
@_exported public import typealias AlamofireFoundationNames.URLRequest
@_exported public import class AlamofireFoundationNames.URLSessionConfiguration
@_exported public import typealias AlamofireFoundationNames.URLSessionTask
@_exported public import typealias AlamofireFoundationNames.URLSessionTaskMetrics

// The only file that imports AlamofireFoundationNames. If another file had the same scoped import, the compiler (Swift 6.3) could lose the
// exported one.

extension Session {
    /// Creates a session with the settings of a configuration. Later changes of the configuration have no effect. The queues have none,
    /// either.
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

    /// Creates a session of Alamofire 4 whose servers are evaluated by policies. A host without a policy is evaluated by
    /// `DefaultTrustEvaluator`.
    public convenience init(
        configuration: URLSessionConfiguration = .default,
        serverTrustPolicyManager: ServerTrustPolicyManager?
    ) {
        let manager = serverTrustPolicyManager.map { policies in
            ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:]) { host in
                policies.serverTrustPolicy(forHost: host)?.evaluator
            }
        }
        self.init(configuration: configuration, serverTrustManager: manager)
    }

    /// Creates a session whose servers are evaluated by a policy of AFNetworking.
    public convenience init(configuration: URLSessionConfiguration = .default, securityPolicy: AFSecurityPolicy) {
        let manager = ServerTrustManager(evaluators: [:]) { _ in securityPolicy.evaluator }
        self.init(configuration: configuration, serverTrustManager: manager)
    }

    /// Not available.
    @available(*, unavailable, message: "there is no URLSession: leave the delegate out")
    public convenience init(
        configuration: URLSessionConfiguration = .default,
        delegate: SessionDelegate,
        serverTrustPolicyManager: ServerTrustPolicyManager? = nil
    ) {
        self.init(configuration: configuration, serverTrustPolicyManager: serverTrustPolicyManager)
    }
}

/// The version of Alamofire.
public enum AFInfo {
    /// The version whose names this module has.
    public static let version = "5.12.0"
}
