import LinuxSupport
import Netlink

/// The reason why a manager cannot be created.
public enum NetworkReachabilityError: Error, Hashable, Sendable {
    /// The text is neither a host name nor an address literal. It is, for example, a URL, empty, contains a port or a
    /// blank, or cannot be encoded for the name service (IDNA, RFC 5891).
    case invalidHost(String)

    /// A link-local IPv6 address has no zone. Without an interface, the address is ambiguous.
    case zoneRequired(String)

    /// The text is not a name or index of an interface: it is empty, longer than 127 bytes, or contains a blank, `/` or
    /// `%`.
    case invalidInterface(String)

    /// The address does not belong to the only address family that is evaluated.
    case otherFamily(String)

    /// The list ``NetworkReachabilityOptions/addressesAtLarge`` is empty.
    case noAddressesAtLarge

    /// The network namespace does not exist, or the file is not a network namespace. `attempt` is the failed action,
    /// `cause` the system's error and a hint.
    case namespaceUnavailable(namespace: String, attempt: String, cause: String)

    /// The network namespace cannot be opened or entered without `capability`, a name of `capabilities(7)`. `attempt`
    /// is the failed action, `cause` the system's error and a hint.
    ///
    /// | Capability | Required to |
    /// |---|---|
    /// | `CAP_SYS_ADMIN` | enter a network namespace other than the caller's |
    /// | `CAP_SYS_PTRACE` | open the namespace of another user's process |
    /// | `CAP_DAC_READ_SEARCH` | access a file without permission |
    case capabilityRequired(_ capability: String, namespace: String, attempt: String, cause: String)

    /// No process has this ID, or the process has ended.
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
            cause: "\(error.cause); \(capability.use) needs \(capability.rawValue)"
        )
    }
}

extension NetworkReachabilityError: CustomStringConvertible {
    /// The failed action, the error and a hint, in one sentence.
    public var description: String {
        switch self {
        case .invalidHost(let text):
            HostError.invalid(text).description
        case .zoneRequired(let text):
            HostError.zoneRequired(text).description
        case .invalidInterface(let text):
            "\"\(text.printable)\" is not an interface name; `ip link` lists the interfaces"
        case .otherFamily(let text):
            "\(text.printable) is not an \(text.contains(":") ? "IPv4" : "IPv6") address"
        case .noAddressesAtLarge:
            "cannot evaluate general reachability: the list of addresses is empty"
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
        case .noEntry: "\(cause); `ip netns list` shows the existing names"
        case .invalidArgument: "\(cause); the file is not a network namespace"
        default: cause.description
        }
    }
}

extension Capability {
    /// The action that requires the capability, as the subject of a sentence.
    fileprivate var use: String {
        switch self {
        case .systemAdministration: "entering another namespace"
        case .processTracing: "opening the namespace of another user's process"
        case .readSearch: "accessing the file"
        }
    }
}
