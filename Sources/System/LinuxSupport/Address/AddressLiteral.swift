/// An address as people write it, with its zone (RFC 4007): `192.0.2.1`, `2001:db8::1`, `fe80::1%eth0`, `192.0.2.1%red`.
package struct AddressLiteral: Hashable, Sendable {
    /// The address; an IPv4-mapped IPv6 one is the IPv4 address it stands for.
    package let wire: WireAddress

    /// The name or the index of an interface.
    package let zone: String?

    /// Reads a literal. Brackets, ports, prefix lengths, shortened IPv4 forms and everything else are nil.
    package init?(_ text: String) {
        let percent = text.unicodeScalars.firstIndex(of: "%") ?? text.endIndex
        let zone = text[percent...].dropFirst()
        guard let wire = WireAddress(String(text[..<percent])),
            percent == text.endIndex || InterfaceName.isValid(zone)
        else { return nil }
        self.wire = wire.unmapped
        self.zone = percent == text.endIndex ? nil : String(zone)
    }
}

/// The grammar of what names an interface: its name or its index.
package enum InterfaceName {
    /// The longest name of an interface, in bytes (IFNAMSIZ).
    package static let longestName = 15

    /// Whether `text` may be one: 1 to 127 bytes, without `/`, `%` and blanks. Names are shorter, alternative names may be so long
    /// (ALTIFNAMSIZ, `ip-link(8)`).
    package static func isValid(_ text: some StringProtocol) -> Bool {
        (1...127).contains(text.utf8.count) && !text.contains { ["/", "%", "\0"].contains($0) || $0.isWhitespace }
    }
}
