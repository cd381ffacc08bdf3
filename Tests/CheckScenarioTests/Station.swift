/// The stations of the world; see ``World``.
enum Station: CaseIterable, Sendable {
    case pc, router, provider, internet, host
    /// Not connected: for a second gateway or a second router of a situation.
    case spare
}

/// The address families of a line.
enum Line: String, Sendable, CaseIterable {
    case ipv4, ipv6, dual

    var families: [Family] {
        switch self {
        case .ipv4: [.ipv4]
        case .ipv6: [.ipv6]
        case .dual: [.ipv4, .ipv6]
        }
    }
}

enum Family: Sendable {
    case ipv4, ipv6
}

/// A destination of packets.
enum Spot: Sendable {
    case gateway, provider, resolver, secondResolver, anchor, secondAnchor, host, nobody
    /// The first address that represents the internet.
    case atLarge
    /// Another address of a situation.
    case other(String)

    /// Returns the address to which the pc sends.
    func address(_ family: Family) -> String {
        let isIPv4 = family == .ipv4
        return switch self {
        case .gateway: isIPv4 ? "192.168.1.1" : "fe80::1%p0"
        case .provider: isIPv4 ? "100.70.9.2" : "3fff:9::2"
        case .resolver: isIPv4 ? "198.51.100.53" : "3fff:b::53"
        case .secondResolver: isIPv4 ? "198.51.100.54" : "3fff:b::54"
        case .anchor: isIPv4 ? "198.51.100.11" : "3fff:b::11"
        case .secondAnchor: isIPv4 ? "198.51.100.22" : "3fff:b::22"
        case .host: isIPv4 ? "203.0.113.80" : "3fff:4::80"
        case .nobody: isIPv4 ? "192.0.2.1" : "2001:db8::1"
        case .atLarge: isIPv4 ? "1.1.1.1" : "2001:4860:4860::8888"
        case .other(let address): address
        }
    }
}
