public import ReachabilityRetry

extension RequestAdapter where Self == Adapter {
    /// An adapter made of a closure.
    public static func adapter(using closure: @escaping AdaptHandler) -> Adapter { Adapter(closure) }
}

extension RequestRetrier where Self == Retrier {
    /// A retrier made of a closure.
    public static func retrier(using closure: @escaping RetryHandler) -> Retrier { Retrier(closure) }
}

extension RequestInterceptor where Self == Interceptor {
    /// One of closures.
    public static func interceptor(adapter: @escaping AdaptHandler, retrier: @escaping RetryHandler) -> Interceptor {
        Interceptor(adaptHandler: adapter, retryHandler: retrier)
    }

    /// An adapter and a retrier, and interceptors behind them.
    public static func interceptor(
        adapter: any RequestAdapter,
        retrier: any RequestRetrier,
        interceptors: [any RequestInterceptor] = []
    ) -> Interceptor {
        Interceptor(adapter: adapter, retrier: retrier, interceptors: interceptors)
    }

    /// Several as one.
    public static func interceptor(
        adapters: [any RequestAdapter] = [],
        retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) -> Interceptor {
        Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors)
    }
}
