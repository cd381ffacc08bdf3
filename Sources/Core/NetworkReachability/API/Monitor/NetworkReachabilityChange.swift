import LinuxPrimitives

/// What became of one of many targets.
public struct NetworkReachabilityChange: Hashable, Sendable {
    /// The host as it was given.
    public let host: String

    /// The path packets to it take now, or why there is none.
    public let path: NetworkPath

    /// Whether it can be reached now, and over what.
    public var status: NetworkReachabilityStatus { path.status }
}

extension NetworkReachabilityChange: CustomStringConvertible {
    /// For example `example.org: not reachable, no carrier, interface eth0`. What would steer a terminal is shown escaped.
    public var description: String { "\(host.printable): \(path)" }
}
