import LinuxPrimitives

/// The hosts that `no_proxy` lists, between commas or blanks, as curl reads it.
///
/// | Entry | Hosts |
/// |---|---|
/// | `*` alone | all |
/// | `example.org`, `.example.org` | that name, and all that end with a dot and it |
/// | `192.0.2.1`, `2001:db8::1`, `[2001:db8::1]` | that address |
/// | `192.0.2.0/24`, `2001:db8::/32` | the addresses that begin so |
///
/// Names are not looked up: an address of the list is no exception for a host that is named.
package struct ProxyExceptions: Sendable {
    private let hasAll: Bool
    private let names: [String]
    private let prefixes: [AddressPrefix]

    /// Reads a list. What is no prefix of an address counts as a name.
    package init(_ list: String) {
        let entries = list.unicodeScalars.split { $0 == "," || $0.properties.isWhitespace }
            .map { Substring($0).lowercased() }
        hasAll = entries == ["*"]
        prefixes = entries.compactMap(Self.prefix)
        names = entries.filter { Self.prefix($0) == nil }.map { Self.name($0) }.filter { !$0.isEmpty }
    }

    /// Whether a host, without the brackets of an IPv6 address, is asked without a proxy.
    package func contains(_ host: String) -> Bool {
        if hasAll { return true }
        if let address = AddressLiteral(host)?.wire { return prefixes.contains { $0.contains(address) } }
        let host = Self.name(host.lowercased())
        return names.contains { host == $0 || host.hasSuffix(".\($0)") }
    }

    /// Without the dot before it and the one behind it.
    private static func name(_ text: String) -> String {
        let text = text.hasPrefix(".") ? text.dropFirst() : text[...]
        return String(text.hasSuffix(".") ? text.dropLast() : text)
    }

    private static func prefix(_ text: String) -> AddressPrefix? {
        let parts = text.split(at: "/", maxSplits: 1, omittingEmptySubsequences: false)
        var address = parts[0]
        if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
        guard let address = AddressLiteral(String(address))?.wire else { return nil }
        guard parts.count > 1 else { return AddressPrefix(host: address) }
        guard let length = Int(parts[1]), (0...address.family.bitCount).contains(length) else { return nil }
        return AddressPrefix(address, length: length)
    }
}
