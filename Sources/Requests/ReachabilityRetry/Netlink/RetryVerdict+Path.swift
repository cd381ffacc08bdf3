#if Netlink
public import NetworkReachability

extension RetryVerdict {
    /// The verdict a path stands for.
    public init(_ path: NetworkPath) {
        self.init(
            status: Status(path.status),
            reason: path.reason.map { Reason(rawValue: $0.rawValue, words: $0.description) },
            generation: path.generation,
            source: path.source?.description
        )
    }
}

extension RetryVerdict.Status {
    fileprivate init(_ status: NetworkReachabilityStatus) {
        self =
            switch status {
            case .unknown: .unknown
            case .notReachable: .notReachable
            case .reachable: .reachable
            }
    }
}
#endif
