import LinuxSupport
import NetworkReachability
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
    package static func word(_ state: TargetState) -> String {
        state.isOutage ? "down" : state.isDegraded ? "degraded" : state.isPaused ? "paused" : name(state.account)
    }

    /// Returns a sentence about a state, without its full stop.
    ///
    /// - Parameter isPast: True for a former state.
    package static func sentence(_ state: TargetState, of name: String, isPast: Bool) -> String {
        isPast ? past(state, of: name) : sentence(state, of: name)
    }

    /// Returns a sentence about a state, without its full stop.
    package static func sentence(_ state: TargetState, of name: String) -> String {
        let text = text(state, of: name == "internet" ? "the internet" : name)
        return text.hasPrefix("the internet") ? "T" + text.dropFirst() : text
    }

    /// Returns true if the sentence of a state is about this machine or its provider, not about the target.
    package static func isGeneral(_ state: TargetState) -> Bool { text(state, of: "") == text(state, of: "-") }

    private static func text(_ state: TargetState, of target: String) -> String {
        if state.isMaintenance { return "\(target) is being maintained" }
        let cause = state.cause
        switch state.attribution {
        // Without checks only the path is known, not whether the target answers.
        case .up where state.basis == .path:
            return target == "the internet" ? "The path out of this machine is up" : "The path to \(target) is up"
        case .up: return state.isDegraded ? "\(target) is reachable, but degraded" : "\(target) is reachable"
        case .us: return cause.flatMap { ours[$0] } ?? "This machine is cut off"
        case .upstream: return cause.flatMap { upstream[$0] } ?? "The internet cannot be reached beyond this machine"
        case .them: return target + " " + (cause.flatMap { theirs[$0] } ?? "cannot be reached")
        case .unknown:
            switch cause {
            case .notObserved?: return "\(target) was not observed"
            case .suspended?: return "This machine was asleep"
            case .paused?: return "\(target) is paused"
            case .denied?: return "The kernel cannot be queried"
            default: return "It is not known whether \(target) is reachable"
            }
        }
    }

    /// Returns a sentence about a former state, without its full stop.
    package static func past(_ state: TargetState, of target: String) -> String {
        var sentence = sentence(state, of: target)
        for (present, past) in [
            (" is being ", " was being "), (" is down", " was down"), (" is up", " was up"),
            (" is in the way", " was in the way"), (" is paused", " was paused"),
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
        .push: "does not report success",
    ]

    /// Returns the meaning of a reason and its remedy; nil for reasons without an explanation.
    package static func explanation(_ reason: String?) -> (meaning: String, remedy: String)? {
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
        "awaitingPush": ("No push was received yet.", "Send one: POST /v1/push/NAME."),
        "paused": ("A client has paused the target.", "Resume it here, or with POST /v1/targets/NAME/resume."),
        "disabled": ("The configuration disables the target.", "Remove enabled = false."),
        "discarded": (
            "The interface discards all packets.", "Use another interface for the default route: ip route."
        ),
    ]

    /// The words for the reasons of probes and checks. The reasons of the kernel have descriptions of their own.
    fileprivate static let reasons: [String: String] = [
        // This machine
        "thisMachine": "this machine", "notPermitted": "no permission to send it",
        "noDescriptors": "no free file descriptors",
        "interfaceGone": "the interface is gone", "reversePathFilter": "dropped by the reverse path filter",
        "tcpFiltered": "TCP is filtered", "clockWrong": "the clock is wrong",
        "addressConflict": "another device has the same address", "notObserved": "not observed",
        "notReached": "not reached", "vote": "quorum", "hop": "next router", "dns": "DNS server", "tls": "TLS",
        "informational": "",
        // Names
        "nameNotFound": "no such name", "noData": "no address", "serverFailed": "reports a failure (SERVFAIL)",
        "serverRefused": "refuses the query", "serverSilent": "does not answer DNS",
        "serverClosed": "runs no DNS server", "serverUnreachable": "cannot be reached",
        "truncatedWithoutTCP": "truncates answers and refuses TCP", "malformedAnswer": "malformed DNS answer",
        "mismatchedAnswer": "DNS answer to another question", "notRecursive": "does not resolve names recursively",
        "blockedByPolicy": "blocked by a policy", "inventsAnswers": "invents addresses for names that do not exist",
        "wrongAnswer": "wrong DNS answer", "knownAnswerDiffers": "wrong DNS answer for a known name",
        "answersDiffer": "DNS servers disagree", "unansweredAAAA": "does not answer queries for IPv6 addresses",
        "noServerConfigured": "no DNS server is configured",
        "temporaryFailure": "temporary failure of the name service",
        // The path of packets
        "refused": "refuses the connection", "silent": "does not answer", "reset": "resets the connection",
        "refusedByFirewall": "refused by a firewall", "noRouteBeyond": "no route to the destination",
        "hostUnreachable": "host unreachable", "hopLimitExceeded": "hop limit exceeded",
        "fragmentationNeeded": "packets too large for the path", "neighbourFailed": "no device answers at this address",
        "silentBeyond": "no answer from beyond", "portFiltered": "the port is filtered",
        "pathMTU": "large packets are lost",
        // TLS and HTTP
        "handshakeSilent": "no answer in the TLS handshake", "closedDuringHandshake": "closed during the TLS handshake",
        "expired": "certificate expired", "untrusted": "certificate not trusted", "notTLS": "not TLS",
        "versionOrCipher": "no common TLS version or cipher",
        "wrongName": "certificate for another name", "notYetValid": "certificate not valid yet",
        "pinMismatch": "unknown public key", "noPolicy": "no trust policy",
        "clientCertificateRequired": "requires a client certificate",
        "closedWithoutAnswer": "closes the connection without an answer", "notHTTP": "not HTTP",
        "statusNotExpected": "unexpected HTTP status", "bodyNotExpected": "unexpected content",
        "challengeWrong": "wrong answer to the challenge",
        "networkAuthenticationRequired": "login to the network required", "tooLarge": "answer too large",
        "retryAfter": "try again later", "tooManyRedirects": "too many redirects",
        "redirectFailed": "redirects to a server that does not answer",
        "certificateExpiring": "certificate expires soon",
        "certificateNearlyExpired": "certificate expires very soon",
        "greetingNotExpected": "unexpected greeting", "startTLSRefused": "does not start TLS",
        // SSH, time and records
        "notSSH": "not SSH", "noCommonAlgorithm": "no common SSH version or algorithm",
        "hostKeyMismatch": "another SSH host key", "hostKeyUnproven": "SSH host key without a valid signature",
        "notSynchronized": "clock not synchronized", "stratumTooHigh": "too far from a reference clock",
        "recordNotExpected": "unexpected DNS records",
        // Measurements, pushes and pauses
        "latencyHigh": "high latency", "lossHigh": "high loss", "jitterHigh": "high jitter",
        "noPush": "no push in time",
        "reportsFailure": "reports a failure", "awaitingPush": "no push yet", "paused": "paused",
        "disabled": "disabled",
        // Whole checks
        "targetAnswers": "answers", "internetProven": "the internet is proven to work",
        "upstreamAnswers": "the provider answers", "portalByDNS": "captive portal by DNS",
        "anchorsProveNothing": "no anchor answers correctly", "anchorsDisagree": "anchors disagree",
        "notEnoughEvidence": "not enough evidence", "ipv4Broken": "IPv4 fails", "ipv6Broken": "IPv6 fails",
    ]

    /// Returns the words for an identifier of the API: a reason, or the kind or state of a step.
    package static func words(_ identifier: String) -> String {
        reasons[identifier] ?? NetworkPath.UnsatisfiedReason(rawValue: identifier).description
    }
}

extension String {
    /// The text with words instead of identifiers such as `serverSilent`.
    package var inWords: String {
        split(at: " ", omittingEmptySubsequences: false).map { token in
            let name = token.prefix(while: \.isLetter)
            let isIdentifier = name.first?.isLowercase == true && name.contains(where: \.isUppercase)
            return (isIdentifier ? StateDescription.words(String(name)) : String(name)) + token.dropFirst(name.count)
        }.joined(separator: " ")
    }
}
