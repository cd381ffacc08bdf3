/// Whose fault it is, as a pure function of what was observed.
///
/// The order is from the inside out: where nobody observed nothing is said; what the kernel says of this machine comes before what a
/// check says of others, for beyond a cable that is out nothing can be blamed.
///
/// | evidence | attribution |
/// |---|---|
/// | not observed, the namespace gone; suspended; the kernel not to be asked | unknown: notObserved, suspended, denied |
/// | `noCarrier`, `linkDown`, `dormant`, `noInterface`, `discarded`, `interfaceNotAllowed` | us.link |
/// | `noSourceAddress` | us.address |
/// | `noRoute`, `unreachable` | us.route |
/// | `prohibited`, `blackholed`, `refused`; a firewall here | us.policy |
/// | `nameNotResolved`, unless a check says more; place `dns` with a cause on this machine | us.dns |
/// | place `gateway` | upstream.gateway |
/// | place `portal` | upstream.portal |
/// | place `upstream`; place `dns` of servers that do not answer as they should; a certificate put in between | upstream.provider, .dns, .interception |
/// | places `host`, `service`, `tls`; place `dns` of this name alone | them.host, .refused, .http, .tls, .dns |
/// | a check that could not decide | unknown.undecided |
/// | place `degraded` | up.degraded |
///
/// Without checks only the first six rows apply, and up means that a path exists.
public enum Attributor {
    /// The state that follows from an observation.
    public static func state(of observation: Observation) -> TargetState {
        switch observation.path {
        case .notObserved: return TargetState(.unknown, .notObserved)
        case .suspended: return TargetState(.unknown, .suspended)
        // Whether all names fail, or this one, the kernel does not know.
        case .unknown(let reason):
            if nameReasons.contains(reason), let check = observation.check { return state(of: check) }
            return TargetState(.unknown, unknownCauses[reason] ?? .undecided)
        case .notReachable(let reason):
            if nameReasons.contains(reason), let check = observation.check { return state(of: check) }
            return TargetState(.us, kernelCauses[reason] ?? .policy)
        case .reachable:
            guard let check = observation.check else { return TargetState(.up) }
            return state(of: check)
        }
    }

    /// The words of the evidence that decided; nil for a target that is up and not degraded.
    public static func reason(of observation: Observation) -> String? {
        switch observation.path {
        case .notObserved: "notObserved"
        case .suspended: "suspended"
        case .unknown(let reason), .notReachable(let reason):
            if nameReasons.contains(reason), observation.check != nil { reasonOfCheck(observation) } else { reason }
        case .reachable: reasonOfCheck(observation)
        }
    }

    private static func reasonOfCheck(_ observation: Observation) -> String? {
        observation.check.flatMap { state(of: $0) == TargetState(.up, basis: .checks) ? nil : $0.reason }
    }

    /// A path that only lacks an address of the name. A check can find the reason.
    public static let nameReasons: Set<String> = [nameNotResolved, "resolving"]

    private static let nameNotResolved = "nameNotResolved"

    private static let unknownCauses: [String: OutageCause] = [
        "namespaceGone": .notObserved, "netlinkUnavailable": .denied,
    ]

    private static let kernelCauses: [String: OutageCause] = [
        "noCarrier": .link, "linkDown": .link, "dormant": .link, "noInterface": .link, "discarded": .link,
        "interfaceNotAllowed": .link,
        "noSourceAddress": .address,
        "noRoute": .route, "unreachable": .route,
        "prohibited": .policy, "blackholed": .policy, "refused": .policy,
        nameNotResolved: .dns,
    ]

    private static func state(of check: Observation.Check) -> TargetState {
        func state(_ attribution: Attribution, _ cause: OutageCause? = nil) -> TargetState {
            TargetState(attribution, cause, basis: .checks)
        }
        switch check.place {
        case "works": return state(.up)
        case "degraded": return state(.up, .degraded)
        case "thisMachine": return state(.us, machineCauses[check.reason] ?? kernelCauses[check.reason] ?? .policy)
        case "link": return state(.us, .link)
        case "gateway": return state(.upstream, .gateway)
        case "portal": return state(.upstream, .portal)
        case "upstream": return state(.upstream, .provider)
        case "dns":
            let isLocal = localNameReasons.contains(check.reason) || kernelCauses[check.reason] != nil
            if check.isLocal || isLocal { return state(.us, .dns) }
            return ownNameReasons.contains(check.reason) ? state(.them, .dns) : state(.upstream, .dns)
        case "host": return state(.them, .host)
        case "tls":
            return check.reason == "intercepted" ? state(.upstream, .interception) : state(.them, .tls)
        case "service":
            return check.reason == "refused" ? state(.them, .refused) : state(.them, .http)
        default: return state(.unknown, .undecided)
        }
    }

    private static let machineCauses: [String: OutageCause] = ["clockWrong": .clock]

    /// Names do not resolve because of this machine. The reasons of the kernel do not count here.
    private static let localNameReasons: Set<String> = ["noServerConfigured", "firewall"]

    /// The name servers are good, and know nothing of this name.
    private static let ownNameReasons: Set<String> = ["nameNotFound", "noData"]
}

/// Whose fault it is that a target cannot be reached.
public enum Attribution: String, Hashable, Sendable, Codable, CaseIterable {
    /// The target is up.
    case up
    /// This machine: its links, addresses, routes, rules or configuration.
    case us
    /// The network between this machine and the internet: the gateway, the provider, a captive portal, the DNS of the provider.
    case upstream
    /// The target itself, while the internet works.
    case them
    /// There is no observation, or observations contradict each other.
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
    /// An intermediary answers TLS connections with its own certificates.
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

/// An observation of a target: the path of the kernel, and the result of a check if there was one.
public struct Observation: Hashable, Sendable {
    /// The path of the kernel.
    public enum Path: Hashable, Sendable {
        /// A packet would leave.
        case reachable
        /// It would not, for a reason of `NetworkPath.UnsatisfiedReason`.
        case notReachable(reason: String)
        /// Nothing can be said, for a reason of the same kind.
        case unknown(reason: String)
        /// The service did not run.
        case notObserved
        /// The machine was asleep.
        case suspended
    }

    /// What an active check found: the raw values of its place and reason.
    public struct Check: Hashable, Sendable {
        /// Where it breaks, for example `gateway`.
        public var place: String
        /// Why, for example `neighbourFailed`.
        public var reason: String
        /// Whether what fails is on this machine, though others have the like of it: a name server of its own.
        public var isLocal: Bool

        /// - Parameters:
        ///   - place: Where it breaks.
        ///   - reason: Why.
        ///   - isLocal: Whether what fails is on this machine.
        public init(place: String, reason: String, isLocal: Bool = false) {
            self.place = place
            self.reason = reason
            self.isLocal = isLocal
        }
    }

    /// The path of the kernel.
    public var path: Path
    /// The result of the latest check of the same path; nil without checks.
    public var check: Check?

    /// - Parameters:
    ///   - path: The path of the kernel.
    ///   - check: The result of the latest check of the same path.
    public init(path: Path, check: Check? = nil) {
        self.path = path
        self.check = check
    }
}
