import LinuxSupport

/// The error of a target whose host is invalid.
public enum RetryTargetError: Error, Hashable, Sendable {
    /// The text is neither a host name nor an address, for example a URL or an empty text, or it cannot be encoded for the name service (IDNA,
    /// RFC 5891).
    case invalidHost(String)

    /// A link-local IPv6 address needs an interface.
    case zoneRequired(String)

    static func check(_ host: String) throws(RetryTargetError) {
        do throws(HostError) {
            try HostError.check(host)
        } catch {
            switch error {
            case .invalid(let text): throw .invalidHost(text)
            case .zoneRequired(let text): throw .zoneRequired(text)
            }
        }
    }
}

extension RetryTargetError: CustomStringConvertible {
    /// One sentence: what is wrong, and what to do.
    public var description: String {
        switch self {
        case .invalidHost(let text): HostError.invalid(text).description
        case .zoneRequired(let text): HostError.zoneRequired(text).description
        }
    }
}
