/// Apple's name of ``NetworkReachabilityFlags``, for code that is written against it.
public typealias SCNetworkReachabilityFlags = NetworkReachabilityFlags
