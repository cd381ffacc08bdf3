/// The attribution of an outage, as a pure function of an observation.
///
/// The order is from this machine outwards. Without an observation the state is unknown. The kernel's evidence about
/// this machine has priority over a check of other hosts, because nothing beyond an unplugged cable can be blamed.
///
/// | Evidence | Attribution |
/// |---|---|
/// | Not observed, or the namespace is gone; suspended; the kernel cannot be queried | unknown: notObserved, suspended, denied |
/// | `noCarrier`, `linkDown`, `dormant`, `noInterface`, `discarded`, `interfaceNotAllowed` | us.link |
/// | `noSourceAddress` | us.address |
/// | `noRoute`, `unreachable` | us.route |
/// | `prohibited`, `blackholed`, `refused`; a firewall on this machine | us.policy |
/// | `nameNotResolved`, without a check; place `dns` with a cause on this machine | us.dns |
/// | Place `gateway` | upstream.gateway |
/// | Place `portal` | upstream.portal |
/// | Place `upstream`; place `dns` with failing servers; a certificate of an intermediary | upstream.provider, .dns, .interception |
/// | Places `host`, `service`, `tls`; place `dns` for this name only, or if the target is the DNS server | them.host, .refused, .http, .tls, .dns |
/// | Place `push` | them.push |
/// | An undecided check | unknown.undecided |
/// | Paused by the configuration or a client | unknown.paused |
/// | Place `degraded` | up.degraded |
///
/// Without checks only the first six rows apply, and `up` means that a path exists.
public enum Attributor {
    /// Returns the state that follows from an observation.
    public static func state(of observation: Observation) -> TargetState {
        switch observation.path {
        case .notObserved: return TargetState(.unknown, .notObserved)
        case .suspended: return TargetState(.unknown, .suspended)
        case .paused: return TargetState(.unknown, .paused)
        // The kernel cannot distinguish a failure of all names from a failure of this name.
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

    /// Returns the reason that decided the state, from the kernel or the check. Nil for a target that is up and not
    /// degraded.
    public static func reason(of observation: Observation) -> String? {
        switch observation.path {
        case .notObserved: "notObserved"
        case .suspended: "suspended"
        case .paused(let reason): reason
        case .unknown(let reason), .notReachable(let reason):
            if nameReasons.contains(reason), observation.check != nil { reasonOfCheck(observation) } else { reason }
        case .reachable: reasonOfCheck(observation)
        }
    }

    private static func reasonOfCheck(_ observation: Observation) -> String? {
        observation.check.flatMap { state(of: $0) == TargetState(.up, basis: .checks) ? nil : $0.reason }
    }

    /// The reasons of a path that only lacks an address of the name. A check can find the cause.
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
            return check.isTarget || ownNameReasons.contains(check.reason) ? state(.them, .dns) : state(.upstream, .dns)
        case "host": return state(.them, .host)
        case "tls":
            return check.reason == "intercepted" ? state(.upstream, .interception) : state(.them, .tls)
        case "service":
            return check.reason == "refused" ? state(.them, .refused) : state(.them, .http)
        case "push": return state(.them, .push)
        default: return state(.unknown, .undecided)
        }
    }

    private static let machineCauses: [String: OutageCause] = ["clockWrong": .clock]

    /// The reasons of a check for failing names that are located on this machine. The kernel's reasons are handled
    /// separately.
    private static let localNameReasons: Set<String> = ["noServerConfigured", "firewall"]

    /// The reasons of a check for a name that does not exist, or has other records, although the name servers work.
    private static let ownNameReasons: Set<String> = ["nameNotFound", "noData", "recordNotExpected"]
}

/// The part of the network that is responsible for an outage.
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

/// The cause of an outage or a degradation, within an ``Attribution``. The list grows, so it is not an enumeration. The
/// raw value is the name.
public struct OutageCause: RawRepresentable, Hashable, Sendable, Codable {
    /// The name, as used in JSON.
    public let rawValue: String

    /// Creates a cause from any name, known or not.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    // MARK: up

    /// The target works only in part: over one address family, with one name server, or slowly. The time counts as up.
    public static let degraded = OutageCause(rawValue: "degraded")

    // MARK: us

    /// No carrier, the link is down or dormant, or there is no interface.
    public static let link = OutageCause(rawValue: "link")
    /// The machine has no source address.
    public static let address = OutageCause(rawValue: "address")
    /// There is no route, or the route has the type unreachable.
    public static let route = OutageCause(rawValue: "route")
    /// A rule, a route or a firewall of this machine forbids the traffic.
    public static let policy = OutageCause(rawValue: "policy")
    /// The clock of this machine is wrong, so that certificates cannot be verified.
    public static let clock = OutageCause(rawValue: "clock")

    // MARK: us, upstream or them

    /// Names do not resolve: no server is configured (us), the provider's servers do not respond (upstream), or only
    /// this name does not resolve (them).
    public static let dns = OutageCause(rawValue: "dns")

    // MARK: upstream

    /// The gateway does not respond.
    public static let gateway = OutageCause(rawValue: "gateway")
    /// A captive portal responds in place of the internet.
    public static let portal = OutageCause(rawValue: "portal")
    /// The gateway responds, but the internet does not.
    public static let provider = OutageCause(rawValue: "provider")
    /// An intermediary responds to TLS connections with its own certificates.
    public static let interception = OutageCause(rawValue: "interception")

    // MARK: them

    /// The host does not respond.
    public static let host = OutageCause(rawValue: "host")
    /// The host refuses the connection.
    public static let refused = OutageCause(rawValue: "refused")
    /// The TLS handshake fails, or the certificate is invalid.
    public static let tls = OutageCause(rawValue: "tls")
    /// The server responds, but not as expected.
    public static let http = OutageCause(rawValue: "http")

    /// The target sent no push in time, or its last push reported a failure.
    public static let push = OutageCause(rawValue: "push")

    // MARK: unknown

    /// The service was not running, or the namespace of the target did not exist.
    public static let notObserved = OutageCause(rawValue: "notObserved")
    /// The machine was asleep.
    public static let suspended = OutageCause(rawValue: "suspended")
    /// The kernel could not be queried.
    public static let denied = OutageCause(rawValue: "denied")
    /// The target is paused or disabled.
    public static let paused = OutageCause(rawValue: "paused")
    /// There is no decision yet, or checks contradict each other.
    public static let undecided = OutageCause(rawValue: "undecided")
}

/// The evidence behind a state.
public enum AttributionBasis: String, Hashable, Sendable, Codable {
    /// The kernel's evidence alone. `up` means that a path exists.
    case path
    /// The kernel's evidence and active checks.
    case checks = "path+checks"
}

/// An observation of a target: the kernel's path, and the result of a check if one was made.
public struct Observation: Hashable, Sendable {
    /// The kernel's path.
    public enum Path: Hashable, Sendable {
        /// The kernel has a path to the target.
        case reachable
        /// The kernel has no path. The reason is one of `NetworkPath.UnsatisfiedReason`.
        case notReachable(reason: String)
        /// The path is unknown. The reason is one of `NetworkPath.UnsatisfiedReason`.
        case unknown(reason: String)
        /// The service was not running.
        case notObserved
        /// The machine was suspended.
        case suspended
        /// The target is not monitored for now.
        case paused(reason: String)
    }

    /// The result of an active check, as the raw values of its place and reason.
    public struct Check: Hashable, Sendable {
        /// The location of the fault, for example `gateway`.
        public var place: String
        /// The reason, for example `neighbourFailed`.
        public var reason: String
        /// A Boolean value that indicates whether the fault is on this machine although its place suggests otherwise,
        /// for example because this machine runs the name server.
        public var isLocal: Bool
        /// A Boolean value that indicates whether the target is the DNS server that fails.
        public var isTarget: Bool

        /// Creates the result of a check.
        ///
        /// - Parameters:
        ///   - place: The location of the fault.
        ///   - reason: The reason.
        ///   - isLocal: True if the fault is on this machine although its place suggests otherwise.
        ///   - isTarget: True if the target is the DNS server that fails.
        public init(place: String, reason: String, isLocal: Bool = false, isTarget: Bool = false) {
            self.place = place
            self.reason = reason
            self.isLocal = isLocal
            self.isTarget = isTarget
        }
    }

    /// The kernel's path.
    public var path: Path
    /// The result of the latest check of the same path; nil without checks.
    public var check: Check?

    /// Creates an observation.
    ///
    /// - Parameters:
    ///   - path: The kernel's path.
    ///   - check: The result of the latest check of the same path.
    public init(path: Path, check: Check? = nil) {
        self.path = path
        self.check = check
    }
}
