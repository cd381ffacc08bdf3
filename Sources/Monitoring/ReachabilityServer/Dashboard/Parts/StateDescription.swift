package import ReachabilityLedger

/// Describes states, causes and reasons for people.
package enum StateDescription {
    /// The name of an account.
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

    /// A state as a sentence without its full stop.
    static func sentence(_ state: TargetState, of name: String) -> String {
        let text = words(state, of: name == "internet" ? "the internet" : name)
        return text.hasPrefix("the internet") ? "T" + text.dropFirst() : text
    }

    /// Returns true if the sentence of a state is about this machine or its provider, not about the target.
    static func isGeneral(_ state: TargetState) -> Bool { words(state, of: "") == words(state, of: "-") }

    private static func words(_ state: TargetState, of target: String) -> String {
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
            case .denied?: return "The kernel may not be asked"
            default: return "Whether \(target) is reachable is not known"
            }
        }
    }

    /// A former state as a sentence without its full stop.
    static func past(_ state: TargetState, of target: String) -> String {
        var sentence = sentence(state, of: target)
        for (present, past) in [
            (" is being ", " was being "), (" is down", " was down"), (" is in the way", " was in the way"),
            (" is wrong", " was wrong"), (" is not ", " was not "), (" has no ", " had no "),
            (" does not ", " did not "),
            (" leads ", " led "), (" forbids ", " forbade "), (" cannot ", " could not "), (" do not ", " did not "),
            (" intercepts ", " intercepted "), (" refuses ", " refused "), (" is reachable", " was reachable"),
            (" is cut", " was cut"),
        ] { sentence = sentence.replacing(present, with: past) }
        return sentence
    }

    private static let ours: [OutageCause: String] = [
        .link: "The link of this machine is down", .address: "This machine has no address to send from",
        .route: "No route leads out of this machine", .policy: "This machine forbids the way out",
        .dns: "This machine cannot resolve names", .clock: "The clock of this machine is wrong",
    ]

    private static let upstream: [OutageCause: String] = [
        .gateway: "The gateway does not answer", .portal: "A captive portal is in the way",
        .provider: "The provider does not reach the internet", .dns: "The name servers of the provider do not answer",
        .interception: "Somebody intercepts encrypted connections",
    ]

    private static let theirs: [OutageCause: String] = [
        .host: "does not answer", .refused: "refuses connections", .tls: "does not show a good certificate",
        .http: "does not answer as it should", .dns: "does not resolve",
    ]

    /// The meaning and the remedy of the kernel's reason.
    static func explanation(_ reason: String?) -> (meaning: String, remedy: String)? {
        reason.flatMap { explanations[$0] }
    }

    private static let explanations: [String: (meaning: String, remedy: String)] = [
        "noCarrier": (
            "The interface is on, but nobody is at the other end: it has no carrier.",
            "Check the cable, the port of the switch or the wireless network."
        ),
        "linkDown": ("The interface is switched off.", "Switch it on: ip link set NAME up."),
        "dormant": (
            "The interface waits for something before it works, such as a login (802.1X).",
            "Check the credentials of this network."
        ),
        "noInterface": ("There is no interface to send by.", "Plug in or load the driver of an interface: ip link."),
        "noSourceAddress": (
            "The interface has no address that packets could come from.",
            "Ask for one by DHCP, or add one: ip address."
        ),
        "noRoute": (
            "No route of the kernel leads there.",
            "Add a default route, or find out why DHCP or router advertisements brought none: ip route."
        ),
        "unreachable": ("A route says that nothing is reachable.", "Find it: ip route show type unreachable."),
        "prohibited": ("A route or a rule prohibits it.", "Find it: ip rule, and ip route show type prohibit."),
        "blackholed": ("A route throws packets away without a word.", "Find it: ip route show type blackhole."),
        "nameNotResolved": ("The name did not resolve.", "Check the servers in /etc/resolv.conf."),
        "discarded": (
            "The interface throws away what is sent by it.", "Give the default route another interface: ip route."
        ),
    ]
}
