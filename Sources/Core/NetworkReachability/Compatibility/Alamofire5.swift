public import Dispatch

// What Alamofire 5 calls otherwise.

extension NetworkReachabilityManager {
    /// The same as ``isReachableOnWWAN``, by its Alamofire 5 name.
    public var isReachableOnCellular: Bool { isReachableOnWWAN }

    /// The queue on which changes are noticed and told, by its Alamofire name: one serial queue for each network namespace. Work that
    /// is put on it runs between two changes, and delays those that follow.
    public var reachabilityQueue: DispatchQueue { record.monitor.queue }
}

extension NetworkReachabilityStatus.ConnectionType {
    /// Alamofire 5's name for ``wwan``.
    public static var cellular: Self { .wwan }
}
