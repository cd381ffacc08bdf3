package import Netlink

/// Why a manager cannot be made.
public enum NetworkReachabilityError: Error, Hashable, Sendable {
    /// The text is neither a host name nor an address literal: a URL, a port, a blank or nothing at all.
    case invalidHost(String)

    /// A link-local IPv6 address says nothing without the interface it is meant on.
    case zoneRequired(String)

    /// The set of addresses that stand for the network at large is empty.
    case noAddressesAtLarge

    /// The network namespace is missing, is none, or may not be entered. `attempt` is what was tried, `cause` what the
    /// system said.
    case namespaceUnavailable(namespace: String, attempt: String, cause: String)

    package static func namespace(_ namespace: String, _ error: NetlinkError) -> NetworkReachabilityError {
        .namespaceUnavailable(namespace: namespace, attempt: error.attempt, cause: error.advice)
    }
}

extension NetworkReachabilityError: CustomStringConvertible {
    /// One sentence: what was tried, what is wrong, and what to do.
    public var description: String {
        switch self {
        case .invalidHost(let text):
            "\"\(text)\" is neither a host name nor an address: give a name such as example.org or an address such as"
                + " 192.0.2.1 or 2001:db8::1, without scheme, port or brackets"
        case .zoneRequired(let text):
            "\(text) is link-local and needs the interface it is meant on: write \(text)%eth0, for example"
        case .noAddressesAtLarge:
            "no addresses stand for the network at large: give at least one"
        case .namespaceUnavailable(_, let attempt, let cause):
            "cannot \(attempt): \(cause)"
        }
    }
}

extension NetlinkError {
    fileprivate var advice: String {
        switch cause {
        case .notPermitted, .accessDenied: "\(cause): entering another namespace needs CAP_SYS_ADMIN"
        case .noEntry: "\(cause): `ip netns list` shows the names there are"
        case .invalidArgument: "\(cause): the file is no network namespace"
        default: cause.description
        }
    }
}
