/// Where it breaks, or that it does not.
public enum CheckPlace: String, Hashable, Sendable, CaseIterable, Codable {
    case works, degraded, inconclusive, thisMachine, link, gateway, upstream, portal, dns, host, tls, service

    /// With what `reachability check` exits.
    public var exitCode: Int32 {
        switch self {
        case .works: 0
        case .inconclusive: 2
        case .degraded: 3
        case .thisMachine: 10
        case .link: 11
        case .gateway: 12
        case .upstream: 13
        case .dns: 14
        case .portal: 15
        case .host: 16
        case .tls: 17
        case .service: 18
        }
    }

    /// How far packets get, from this machine on: a proof of life never makes it smaller.
    package var distance: Int {
        switch self {
        case .thisMachine: 0
        case .link: 1
        case .gateway: 2
        case .upstream: 3
        case .portal: 4
        case .dns: 5
        case .host: 6
        case .tls: 7
        case .service: 8
        case .inconclusive: 9
        case .degraded: 10
        case .works: 11
        }
    }
}

/// How sure a verdict is.
public enum CheckConfidence: String, Hashable, Sendable, CaseIterable, Comparable, Codable {
    /// It is the likeliest of several explanations, or something could not be asked.
    case suspected
    /// Silence says so, and silence may have other causes.
    case likely
    /// Somebody said so.
    case proven

    private var rank: Int { self == .suspected ? 0 : self == .likely ? 1 : 2 }

    /// Whether `one` is less sure.
    public static func < (one: CheckConfidence, other: CheckConfidence) -> Bool { one.rank < other.rank }
}
