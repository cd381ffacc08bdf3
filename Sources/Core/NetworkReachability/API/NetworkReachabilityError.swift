import LinuxSupport
import Netlink

/// Why a manager cannot be made.
public enum NetworkReachabilityError: Error, Hashable, Sendable {
    /// The text is neither a host name nor an address literal: a URL, a port, a blank or nothing at all, or a name of another script
    /// that cannot be encoded for the name service (IDNA, RFC 5891).
    case invalidHost(String)

    /// A link-local IPv6 address says nothing without the interface it is meant on.
    case zoneRequired(String)

    /// The text is no name or index of an interface: it is empty, longer than 127 bytes, or has a blank, `/` or `%`.
    case invalidInterface(String)

    /// The address is not of the one family that counts.
    case otherFamily(String)

    /// The set of addresses that stand for the network at large is empty.
    case noAddressesAtLarge

    /// The network namespace is missing, or is none. `attempt` is what was tried, `cause` what the system said.
    case namespaceUnavailable(namespace: String, attempt: String, cause: String)

    /// The network namespace may not be opened or entered without `capability`, a name of `capabilities(7)`:
    /// `CAP_SYS_ADMIN` to enter any but the caller's, `CAP_SYS_PTRACE` to open that of another user's process,
    /// `CAP_DAC_READ_SEARCH` to get to a file that others may not see.
    case capabilityRequired(_ capability: String, namespace: String, attempt: String, cause: String)

    /// No process has this number, or it has just ended.
    case noSuchProcess(Int32)

    static func namespace(_ namespace: NetworkNamespace, _ error: NetlinkError) -> NetworkReachabilityError {
        if case .process(let identifier) = namespace.place, error.cause == .noSuchProcess {
            return .noSuchProcess(identifier)
        }
        guard let capability = error.capability else {
            let advice = error.advice
            return .namespaceUnavailable(namespace: namespace.name, attempt: error.attempt, cause: advice)
        }
        return .capabilityRequired(
            capability.rawValue,
            namespace: namespace.name,
            attempt: error.attempt,
            cause: "\(error.cause): \(capability.use) needs \(capability.rawValue)"
        )
    }
}

extension NetworkReachabilityError: CustomStringConvertible {
    /// The attempt, the error and a hint, in one sentence.
    public var description: String {
        switch self {
        case .invalidHost(let text):
            HostError.invalid(text).description
        case .zoneRequired(let text):
            HostError.zoneRequired(text).description
        case .invalidInterface(let text):
            "\"\(text.printable)\" is no name of an interface: `ip link` shows those there are"
        case .otherFamily(let text):
            "\(text.printable) is no \(text.contains(":") ? "IPv4" : "IPv6") address"
        case .noAddressesAtLarge:
            "no addresses stand for the network at large: give at least one"
        case .namespaceUnavailable(_, let attempt, let cause), .capabilityRequired(_, _, let attempt, let cause):
            "cannot \(attempt.printable): \(cause.printable)"
        case .noSuchProcess(let identifier):
            "there is no process \(identifier)"
        }
    }
}

extension NetlinkError {
    fileprivate var advice: String {
        switch cause {
        case .noEntry: "\(cause): `ip netns list` shows the names there are"
        case .invalidArgument: "\(cause): the file is no network namespace"
        default: cause.description
        }
    }
}

extension Capability {
    /// What it is needed for, as the beginning of a sentence's end.
    fileprivate var use: String {
        switch self {
        case .systemAdministration: "entering another namespace"
        case .processTracing: "opening that of another user's process"
        case .readSearch: "getting to the file"
        }
    }
}
