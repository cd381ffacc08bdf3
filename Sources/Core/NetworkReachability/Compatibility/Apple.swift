// What Apple's frameworks call otherwise.

/// Apple's name of ``NetworkReachabilityFlags``, for code that is written against it.
public typealias SCNetworkReachabilityFlags = NetworkReachabilityFlags

extension NetworkPath {
    /// Whether the user wants little traffic, as `NWPath.isConstrained`. Always false: Linux has no Low Data Mode.
    public var isConstrained: Bool { false }
}
