/// Whose fault it is that a target cannot be reached.
public enum Attribution: String, Hashable, Sendable, Codable, CaseIterable {
    /// The target is up.
    case up
    /// This machine: its links, addresses, routes, rules or configuration.
    case us
    /// What lies between this machine and the internet: the gateway, the provider, a captive portal, the provider's DNS.
    case upstream
    /// The target itself, while the internet works.
    case them
    /// Nobody observed, or what was observed contradicts itself.
    case unknown
}

/// Why a target is not up, or not wholly, within an ``Attribution``. The list grows, so it is not an enumeration; the raw value is the name.
public struct OutageCause: RawRepresentable, Hashable, Sendable, Codable {
    /// The name, as JSON has it.
    public let rawValue: String

    /// Takes any name, known or not.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    // MARK: up

    /// The target works in part: over one family of addresses, by one name server, or slowly. Its time counts as up.
    public static let degraded = OutageCause(rawValue: "degraded")

    // MARK: us

    /// No carrier, the link is down or dormant, or there is no interface.
    public static let link = OutageCause(rawValue: "link")
    /// No source address.
    public static let address = OutageCause(rawValue: "address")
    /// No route, or one that says unreachable.
    public static let route = OutageCause(rawValue: "route")
    /// A rule, a route or a firewall of this machine forbids it.
    public static let policy = OutageCause(rawValue: "policy")
    /// The clock of this machine is wrong, so certificates do not verify.
    public static let clock = OutageCause(rawValue: "clock")

    // MARK: us, upstream or them

    /// Names do not resolve: no server is configured (us), the provider's servers do not answer (upstream), or this name alone does
    /// not resolve (them).
    public static let dns = OutageCause(rawValue: "dns")

    // MARK: upstream

    /// The gateway does not answer.
    public static let gateway = OutageCause(rawValue: "gateway")
    /// A captive portal answers in place of the internet.
    public static let portal = OutageCause(rawValue: "portal")
    /// The gateway answers, the internet does not.
    public static let provider = OutageCause(rawValue: "provider")
    /// Somebody on the way answers TLS connections with certificates of their own.
    public static let interception = OutageCause(rawValue: "interception")

    // MARK: them

    /// The host does not answer.
    public static let host = OutageCause(rawValue: "host")
    /// The host refuses the connection.
    public static let refused = OutageCause(rawValue: "refused")
    /// The TLS handshake fails, or the certificate is not good.
    public static let tls = OutageCause(rawValue: "tls")
    /// The server answers, but not as expected.
    public static let http = OutageCause(rawValue: "http")

    // MARK: unknown

    /// The service did not run, or the namespace of the target was gone.
    public static let notObserved = OutageCause(rawValue: "notObserved")
    /// The machine was asleep.
    public static let suspended = OutageCause(rawValue: "suspended")
    /// The kernel could not be asked.
    public static let denied = OutageCause(rawValue: "denied")
    /// Nothing is decided yet, or checks contradict each other.
    public static let undecided = OutageCause(rawValue: "undecided")
}

/// What an answer is based on.
public enum AttributionBasis: String, Hashable, Sendable, Codable {
    /// The kernel alone: up means that a path exists.
    case path
    /// The kernel, and active checks.
    case checks = "path+checks"
}
