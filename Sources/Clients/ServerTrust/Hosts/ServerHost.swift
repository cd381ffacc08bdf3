import LinuxSupport

/// Whom a connection is meant for: a host name or an IP address.
public struct ServerHost: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        case name(DNSName)
        /// Four or sixteen bytes in network order.
        case address([UInt8])
    }

    let form: Form

    /// Reads a host name or an address as it stands in a URL: letters of every script, which become A-labels (RFC 5891); one dot at
    /// the end; an IPv6 address in brackets or without, its zone is left away.
    ///
    /// - Throws: ``TrustFailure/invalidHost(_:)`` for everything else, so also for `127.1` and for labels that are none.
    public init(_ text: String) throws(TrustFailure) {
        if let address = Self.address(text) {
            form = .address(address.bytes)
        } else if let name = DNSName(text) {
            form = .name(name)
        } else {
            throw .invalidHost(text)
        }
    }

    /// Whether it is an IP address: then there is no Server Name Indication (RFC 6066, section 3).
    public var isAddress: Bool {
        guard case .address = form else { return false }
        return true
    }

    /// As hosts are compared: lower case, A-labels, no dot at the end; a text that is no host as it is.
    static func canonical(_ text: String) -> String { (try? ServerHost(text))?.description ?? text }

    private static func address(_ text: String) -> WireAddress? {
        var text = text[...]
        if text.first == "[", text.last == "]" {
            text = text.dropFirst().dropLast()
            guard text.contains(":") else { return nil }
        }
        if text.contains(":"), let percent = text.unicodeScalars.firstIndex(of: "%") { text = text[..<percent] }
        // What is behind a zero byte would not be read.
        guard !text.utf8.contains(0) else { return nil }
        return WireAddress(String(text))
    }
}

extension ServerHost: CustomStringConvertible {
    /// The name in lower case and A-labels without a dot at the end, or the canonical text of the address.
    public var description: String {
        switch form {
        case .name(let name): name.description
        case .address(let bytes): WireAddress(bytes: bytes)?.description ?? ""
        }
    }
}
