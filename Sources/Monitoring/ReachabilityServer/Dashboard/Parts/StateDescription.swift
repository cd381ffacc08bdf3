package import ReachabilityLedger

/// Descriptions of states, causes and reasons as sentences.
package enum StateDescription {
    /// Returns the name of an account.
    package static func name(_ account: LedgerAccount) -> String {
        switch account {
        case .up: "up"
        case .us: "this machine"
        case .upstream: "provider"
        case .them: "target"
        case .unknown: "not observed"
        case .maintenance: "maintenance"
        }
    }

    /// Returns the word for a state.
    static func word(_ state: TargetState) -> String {
        state.isOutage ? "down" : state.isDegraded ? "degraded" : name(state.account)
    }

    /// Returns a sentence about a state, without its full stop.
    ///
    /// - Parameter isPast: True for a former state.
    static func sentence(_ state: TargetState, of name: String, isPast: Bool) -> String {
        isPast ? past(state, of: name) : sentence(state, of: name)
    }

    /// Returns a sentence about a state, without its full stop.
    static func sentence(_ state: TargetState, of name: String) -> String {
        let text = text(state, of: name == "internet" ? "the internet" : name)
        return text.hasPrefix("the internet") ? "T" + text.dropFirst() : text
    }

    /// Returns true if the sentence of a state is about this machine or its provider, not about the target.
    static func isGeneral(_ state: TargetState) -> Bool { text(state, of: "") == text(state, of: "-") }

    private static func text(_ state: TargetState, of target: String) -> String {
        if state.isMaintenance { return "\(target) is being maintained" }
        let cause = state.cause
        switch state.attribution {
        case .up: return state.isDegraded ? "\(target) is reachable, but degraded" : "\(target) is reachable"
        case .us: return cause.flatMap { ours[$0] } ?? "This machine is cut off"
        case .upstream: return cause.flatMap { upstream[$0] } ?? "The internet cannot be reached beyond this machine"
        case .them: return target + " " + (cause.flatMap { theirs[$0] } ?? "cannot be reached")
        case .unknown:
            switch cause {
            case .notObserved?: return "\(target) was not observed"
            case .suspended?: return "This machine was asleep"
            case .denied?: return "The kernel cannot be queried"
            default: return "It is not known whether \(target) is reachable"
            }
        }
    }

    /// Returns a sentence about a former state, without its full stop.
    static func past(_ state: TargetState, of target: String) -> String {
        var sentence = sentence(state, of: target)
        for (present, past) in [
            (" is being ", " was being "), (" is down", " was down"), (" is in the way", " was in the way"),
            (" is wrong", " was wrong"), (" is not ", " was not "), (" has no ", " had no "),
            (" does not ", " did not "),
            (" leads ", " led "), (" blocks ", " blocked "), (" cannot ", " could not "), (" do not ", " did not "),
            (" intercepts ", " intercepted "), (" refuses ", " refused "), (" is reachable", " was reachable"),
            (" is cut", " was cut"),
        ] { sentence = sentence.replacing(present, with: past) }
        return sentence
    }

    private static let ours: [OutageCause: String] = [
        .link: "The link of this machine is down", .address: "This machine has no address to send from",
        .route: "No route leads out of this machine", .policy: "This machine blocks the packets",
        .dns: "This machine cannot resolve names", .clock: "The clock of this machine is wrong",
    ]

    private static let upstream: [OutageCause: String] = [
        .gateway: "The gateway does not answer", .portal: "A captive portal is in the way",
        .provider: "The provider does not reach the internet", .dns: "The name servers of the provider do not answer",
        .interception: "A third party intercepts encrypted connections",
    ]

    private static let theirs: [OutageCause: String] = [
        .host: "does not answer", .refused: "refuses connections", .tls: "does not present a valid certificate",
        .http: "does not answer as expected", .dns: "does not resolve",
    ]

    /// Returns the meaning of a reason and its remedy; nil for reasons without an explanation.
    static func explanation(_ reason: String?) -> (meaning: String, remedy: String)? {
        reason.flatMap { explanations[$0] }
    }

    private static let explanations: [String: (meaning: String, remedy: String)] = [
        "noCarrier": (
            "The interface is on, but has no carrier: nothing is connected to it.",
            "Check the cable, the port of the switch or the wireless network."
        ),
        "linkDown": ("The interface is switched off.", "Switch it on: ip link set NAME up."),
        "dormant": (
            "The interface is not ready yet. It waits, for example, for a login (802.1X).",
            "Check the credentials of this network."
        ),
        "noInterface": ("There is no interface to send packets.", "Connect one or load its driver: ip link."),
        "noSourceAddress": (
            "The interface has no source address for packets.",
            "Request one by DHCP, or add one: ip address."
        ),
        "noRoute": (
            "The kernel has no route to the target.",
            "Add a default route, or find out why DHCP or router advertisements provided none: ip route."
        ),
        "unreachable": ("An unreachable route rejects packets.", "Find it: ip route show type unreachable."),
        "prohibited": ("A prohibit route or rule rejects packets.", "Find it: ip rule, ip route show type prohibit."),
        "blackholed": ("A blackhole route drops packets silently.", "Find it: ip route show type blackhole."),
        "nameNotResolved": ("The name did not resolve.", "Check the servers in /etc/resolv.conf."),
        "discarded": (
            "The interface discards all packets.", "Use another interface for the default route: ip route."
        ),
    ]
}
