package import Netlink

/// An IPv4 address, or an IPv6 address with the zone that link-local ones need (RFC 4007).
///
/// An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) is the IPv4 address it stands for, for that is where packets go.
public struct IPAddress: Hashable, Sendable {
    package let wire: WireAddress

    private let scope: Zone

    /// The name or the index of an interface; nil where none is needed.
    public var zone: String? { scope == .none ? nil : scope.text }

    package init(_ wire: WireAddress, zone: String? = nil) {
        self.wire = wire.unmapped
        scope = self.wire.family == .ipv6 ? zone.map { Zone($0) } ?? .none : .none
    }

    /// Reads an address literal: `192.0.2.1`, `2001:db8::1`, `fe80::1%eth0`. Brackets, ports, prefix lengths, shortened
    /// IPv4 forms and everything else are nil.
    public init?(_ text: String) {
        guard let percent = text.firstIndex(of: "%") else {
            guard let wire = WireAddress(text) else { return nil }
            self.init(wire)
            return
        }
        let zone = text[text.index(after: percent)...]
        guard let wire = WireAddress(String(text[..<percent])), wire.family == .ipv6, Self.isZone(zone) else {
            return nil
        }
        self.init(wire, zone: String(zone))
    }

    /// Whether this is an IPv6 address.
    public var isIPv6: Bool { wire.family == .ipv6 }

    /// Whether the address is good on one link only: 169.254.0.0/16 (RFC 3927), fe80::/10 (RFC 4291).
    public var isLinkLocal: Bool { wire.isLinkLocal }

    /// Whether this is `0.0.0.0` or `::`, which stands for the network at large.
    public var isUnspecified: Bool { wire.isUnspecified }

    /// The name of an interface is at most 15 bytes without `/` and blanks (IFNAMSIZ); an index is a number.
    private static func isZone(_ text: Substring) -> Bool {
        (1...Zone.limit).contains(text.utf8.count)
            && !text.contains { ["/", "%", "\0"].contains($0) || $0.isWhitespace }
    }
}

extension IPAddress: CustomStringConvertible, LosslessStringConvertible {
    /// The canonical text (RFC 5952), with `%` and the zone where there is one.
    public var description: String {
        zone.map { "\(wire)%\($0)" } ?? wire.description
    }
}
