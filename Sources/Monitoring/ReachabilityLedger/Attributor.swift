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
/// Without checks only the first six can be told, and up means that a path exists.
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

    /// What the path to a target says where only its name has no address, or none yet. A check can tell more.
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
