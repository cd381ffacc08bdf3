import SwiftASN1
import X509

/// One subtree of names (GeneralSubtree, RFC 5280, 4.2.1.10), read once to be compared with many. Nil stands for what cannot be read:
/// every name of its form may be in that, or may not.
enum NameConstraint {
    /// `example.com` holds itself and all below, `.example.com` only what is below.
    case hosts(ConstrainedDomain?, isOnlyBelow: Bool)
    /// The empty text.
    case allHosts
    case addresses(ConstrainedRange?)
    case mailbox(ConstrainedMailbox)
    /// All mailboxes of a host, or with a dot in front of all hosts below.
    case mailboxes(ConstrainedDomain?, isBelow: Bool)
    /// Those of a host, or with a dot in front of all hosts below.
    case identifiers(ConstrainedDomain?, isBelow: Bool)
    case directory(CanonicalName)
    case otherName, x400Address, ediPartyName, registeredID

    init(_ subtree: GeneralName) {
        switch subtree {
        case .dnsName(""): self = .allHosts
        case .dnsName(let text):
            let (domain, hasDot) = Self.domain(text)
            self = .hosts(domain, isOnlyBelow: hasDot)
        case .ipAddress(let octets): self = .addresses(ConstrainedRange(Array(octets.bytes)))
        case .rfc822Name(let text):
            if let mailbox = ConstrainedMailbox(text) {
                self = .mailbox(mailbox)
            } else {
                let (domain, hasDot) = Self.domain(text)
                self = .mailboxes(domain, isBelow: hasDot)
            }
        case .uniformResourceIdentifier(let text):
            let (domain, hasDot) = Self.domain(text)
            self = .identifiers(domain, isBelow: hasDot)
        case .directoryName(let name): self = .directory(CanonicalName(name))
        case .otherName: self = .otherName
        case .x400Address: self = .x400Address
        case .ediPartyName: self = .ediPartyName
        case .registeredID: self = .registeredID
        }
    }

    /// Whether the name is in the subtree; nil if it is of another form, about which the constraint says nothing.
    func containment(of name: ConstrainedName) -> Containment? {
        switch (self, name) {
        case (.allHosts, .host): .inside
        case (.hosts(let domain, let isOnlyBelow), .host(let host, let isWildcard)):
            Self.containment(of: host, isWildcard: isWildcard, in: domain, isOnlyBelow: isOnlyBelow)
        case (.addresses(let range), .address(let address)): range?.containment(of: address) ?? .doubtful
        case (.mailbox(let mailbox), .mailbox(let other)): other?.compared(with: mailbox) ?? .doubtful
        case (.mailboxes(let domain, let isBelow), .mailbox(let mailbox)):
            Self.containment(of: mailbox?.host, in: domain, isBelow: isBelow)
        case (.identifiers(let domain, let isBelow), .identifier(let host)):
            Self.containment(of: host, in: domain, isBelow: isBelow)
        case (.directory(let subtree), .directory(let name)): name.contained(in: subtree)
        case (.otherName, .otherName), (.x400Address, .x400Address), (.ediPartyName, .ediPartyName),
            (.registeredID, .registeredID):
            .doubtful
        default: nil
        }
    }

    private static func domain(_ text: String) -> (ConstrainedDomain?, hasDot: Bool) {
        let hasDot = text.hasPrefix(".")
        return (ConstrainedDomain(hasDot ? text.dropFirst() : text[...]), hasDot)
    }

    /// A wildcard stands for every name directly below its parent: some may be in the subtree where not all are.
    private static func containment(
        of host: ConstrainedDomain?,
        isWildcard: Bool,
        in domain: ConstrainedDomain?,
        isOnlyBelow: Bool
    ) -> Containment {
        guard let host, let domain else { return .doubtful }
        guard isWildcard else { return host.isBelow(domain) || !isOnlyBelow && host == domain ? .inside : .outside }
        if host == domain || host.isBelow(domain) { return .inside }
        return domain.isBelow(host) ? .doubtful : .outside
    }

    private static func containment(
        of host: ConstrainedDomain?,
        in domain: ConstrainedDomain?,
        isBelow: Bool
    ) -> Containment {
        guard let host, let domain else { return .doubtful }
        return (isBelow ? host.isBelow(domain) : host == domain) ? .inside : .outside
    }
}

/// Addresses with the same first bits.
struct ConstrainedRange {
    private let address: ArraySlice<UInt8>
    private let mask: ArraySlice<UInt8>

    /// Nil if it is not an address and a mask whose ones are all in front.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 8 || bytes.count == 32 else { return nil }
        (address, mask) = (bytes.prefix(bytes.count / 2), bytes.suffix(bytes.count / 2))
        let rest = mask.drop { $0 == 0xff }
        guard rest.dropFirst().allSatisfy({ $0 == 0 }), (~(rest.first ?? 0)) & ((~(rest.first ?? 0)) &+ 1) == 0 else {
            return nil
        }
    }

    func containment(of other: [UInt8]) -> Containment {
        guard other.count == 4 || other.count == 16 else { return .doubtful }
        if holds(other[...]) { return .inside }
        return other.starts(with: Self.mapped) && holds(other.suffix(4)) ? .doubtful : .outside
    }

    /// `::ffff:192.0.2.1` is 192.0.2.1 to whoever connects to it.
    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

    private func holds(_ other: ArraySlice<UInt8>) -> Bool {
        other.count == address.count && zip(other, zip(address, mask)).allSatisfy { $0 & $1.1 == $1.0 & $1.1 }
    }
}

/// Whether a name is in a subtree of names. What cannot be read, or not be compared, is in doubt: it counts as excluded, and as not
/// permitted.
enum Containment: Hashable {
    case inside, outside, doubtful
}
