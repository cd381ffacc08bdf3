public import Dispatch
public import ReachabilityRequests
public import ServerTrust

public import class AlamofireFoundationNames.URLSessionConfiguration

extension Session {
    /// A session with the settings of a configuration. Later changes of the configuration have no effect. The queues have none, either.
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
