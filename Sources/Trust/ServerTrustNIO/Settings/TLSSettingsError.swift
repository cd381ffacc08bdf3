/// Why no TLS client can be made of its settings.
public enum TLSSettingsError: Error, Hashable, Sendable {
    /// The name of an application protocol is empty or longer than 255 bytes (RFC 7301, section 3.1).
    case invalidApplicationProtocol(String)

    /// An evaluation that may take no time trusts nobody.
    case invalidTimeLimit(Duration)

    /// The TLS library refuses the settings; the text is its own.
    case refused(String)
}

extension TLSSettingsError: CustomStringConvertible {
    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .invalidApplicationProtocol(let name):
            "\"\(name)\" cannot be offered as application protocol: it must have 1 to 255 bytes"
        case .invalidTimeLimit(let limit):
            "the time limit of evaluations is \(limit), and no server is trusted in no time: give more"
        case .refused(let cause): "the TLS library does not take the settings: \(cause)"
        }
    }
}
