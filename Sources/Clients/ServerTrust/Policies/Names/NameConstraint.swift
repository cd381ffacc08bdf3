import SwiftASN1
import X509

/// A subtree of names (GeneralSubtree, RFC 5280, 4.2.1.10), parsed once for comparison with many names. Nil means that
/// the subtree cannot be parsed, so it is uncertain whether a name of this form is in it.
enum NameConstraint {
    /// A DNS subtree. `example.com` contains the domain and its subdomains; `.example.com` contains only the
    /// subdomains.
    case hosts(DNSName?, isOnlyBelow: Bool)
    /// All host names: the constraint is empty.
    case allHosts
    case addresses(ConstrainedRange?)
    case mailbox(ConstrainedMailbox)
    /// All mailboxes of a host, or with a leading dot of all its subdomains.
    case mailboxes(DNSName?, isBelow: Bool)
    /// All URIs of a host, or with a leading dot of all its subdomains.
    case identifiers(DNSName?, isBelow: Bool)
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

    /// Returns whether the name is in the subtree; nil if it has another form, to which the constraint does not apply.
    func containment(of name: ConstrainedName) -> Containment? {
        switch (self, name) {
        case (.allHosts, .host): .inside
        case (.hosts(let domain, let isOnlyBelow), .host(let host, let isWildcard)):
            Self.containment(of: host, isWildcard: isWildcard, in: domain, isOnlyBelow: isOnlyBelow)
        case (.addresses(let range), .address(let address)): range?.containment(of: address) ?? .undetermined
        case (.mailbox(let mailbox), .mailbox(let other)): other?.compared(with: mailbox) ?? .undetermined
        case (.mailboxes(let domain, let isBelow), .mailbox(let mailbox)):
            Self.containment(of: mailbox?.host, in: domain, isBelow: isBelow)
        case (.identifiers(let domain, let isBelow), .identifier(let host)):
            Self.containment(of: host, in: domain, isBelow: isBelow)
        case (.directory(let subtree), .directory(let name)): name.contained(in: subtree)
        case (.otherName, .otherName), (.x400Address, .x400Address), (.ediPartyName, .ediPartyName),
            (.registeredID, .registeredID):
            .undetermined
        default: nil
        }
    }

    private static func domain(_ text: String) -> (DNSName?, hasDot: Bool) {
        let hasDot = text.hasPrefix(".")
        return (DNSName(ascii: hasDot ? text.dropFirst() : text[...], allowsFinalDot: true), hasDot)
    }

    /// Returns whether a host name is in a DNS subtree. A wildcard represents every name directly below its parent. If
    /// only some of these are in the subtree, the result is `undetermined`.
    private static func containment(
        of host: DNSName?,
        isWildcard: Bool,
        in domain: DNSName?,
        isOnlyBelow: Bool
    ) -> Containment {
        guard let host, let domain else { return .undetermined }
        guard isWildcard else { return host.isBelow(domain) || !isOnlyBelow && host == domain ? .inside : .outside }
        if host == domain || host.isBelow(domain) { return .inside }
        return domain.isBelow(host) ? .undetermined : .outside
    }

    private static func containment(
        of host: DNSName?,
        in domain: DNSName?,
        isBelow: Bool
    ) -> Containment {
        guard let host, let domain else { return .undetermined }
        return (isBelow ? host.isBelow(domain) : host == domain) ? .inside : .outside
    }
}

/// A range of addresses with the same prefix.
struct ConstrainedRange {
    private let address: ArraySlice<UInt8>
    private let mask: ArraySlice<UInt8>

    /// Parses an address and a mask. Returns nil if the lengths are wrong or the ones of the mask are not contiguous.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 8 || bytes.count == 32 else { return nil }
        (address, mask) = (bytes.prefix(bytes.count / 2), bytes.suffix(bytes.count / 2))
        let rest = mask.drop { $0 == 0xff }
        guard rest.dropFirst().allSatisfy({ $0 == 0 }), (~(rest.first ?? 0)) & ((~(rest.first ?? 0)) &+ 1) == 0 else {
            return nil
        }
    }

    func containment(of other: [UInt8]) -> Containment {
        guard other.count == 4 || other.count == 16 else { return .undetermined }
        if holds(other[...]) { return .inside }
        return other.starts(with: Self.mapped) && holds(other.suffix(4)) ? .undetermined : .outside
    }

    /// The prefix of IPv4-mapped addresses. A connection to `::ffff:192.0.2.1` reaches 192.0.2.1.
    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

    private func holds(_ other: ArraySlice<UInt8>) -> Bool {
        other.count == address.count && zip(other, zip(address, mask)).allSatisfy { $0 & $1.1 == $1.0 & $1.1 }
    }
}

/// The relation of a name to a subtree of names. If a name cannot be parsed or compared, the relation is `undetermined`,
/// which counts as excluded and as not permitted.
enum Containment: Hashable {
    case inside, outside, undetermined
}

/// A name of a certificate, parsed once for comparison with many constraints (RFC 5280, 4.2.1.10). Nil means that the
/// name cannot be parsed.
enum ConstrainedName {
    /// A host name; for a wildcard, the name after `*.`.
    case host(DNSName?, isWildcard: Bool)
    case address([UInt8])
    case mailbox(ConstrainedMailbox?)
    /// The host of a URI.
    case identifier(DNSName?)
    case directory(CanonicalName)
    case otherName, x400Address, ediPartyName, registeredID

    init(_ name: GeneralName) {
        switch name {
        case .dnsName(let text):
            let isWildcard = text.hasPrefix("*.")
            let name = DNSName(ascii: isWildcard ? text.dropFirst(2) : text[...], allowsFinalDot: true)
            self = .host(name, isWildcard: isWildcard)
        case .ipAddress(let octets): self = .address(Array(octets.bytes))
        case .rfc822Name(let text): self = .mailbox(ConstrainedMailbox(text))
        case .uniformResourceIdentifier(let text): self = .identifier(Self.host(of: text))
        case .directoryName(let name): self = .directory(CanonicalName(name))
        case .otherName: self = .otherName
        case .x400Address: self = .x400Address
        case .ediPartyName: self = .ediPartyName
        case .registeredID: self = .registeredID
        }
    }

    /// Returns all names of a certificate: subjectAltName and subject. If there is no subjectAltName, an e-mail address
    /// in the subject counts as rfc822Name.
    static func all(of certificate: TrustCertificate) throws(TrustFailure) -> [GeneralName] {
        var names = try certificate.readableAlternativeNames()
        let subject = certificate.x509.subject
        if names.isEmpty {
            let addresses = subject.joined().filter { $0.type == .RDNAttributeType.emailAddress }
            names = addresses.map { .rfc822Name(AttributeText($0.value).readable) }
        }
        if !subject.isEmpty { names.append(.directoryName(subject)) }
        return names
    }

    /// Returns the host of a URI; nil if it has no valid host name. A URI with characters that are not permitted is
    /// refused, because implementations interpret it differently.
    private static func host(of identifier: String) -> DNSName? {
        guard identifier.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }),
            let colon = identifier.unicodeScalars.firstIndex(of: ":")
        else { return nil }
        let rest = identifier[identifier.unicodeScalars.index(after: colon)...]
        guard rest.hasPrefix("//") else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
        let start =
            authority.unicodeScalars.lastIndex(of: "@").map(authority.unicodeScalars.index(after:))
            ?? authority.startIndex
        return DNSName(ascii: authority[start...].prefix { $0 != ":" }, allowsFinalDot: true)
    }
}

/// An e-mail address (RFC 5321, 4.1.2).
struct ConstrainedMailbox {
    let local: String
    let host: DNSName

    /// Parses an address. Returns nil if the text is not one.
    init?(_ text: String) {
        guard let at = text.unicodeScalars.lastIndex(of: "@"), at > text.startIndex,
            let host = DNSName(ascii: text[text.unicodeScalars.index(after: at)...], allowsFinalDot: true)
        else { return nil }
        local = String(text[..<at])
        self.host = host
    }

    /// Returns whether this is the same mailbox as another. The result is `undetermined` if the local parts differ only in
    /// case or contain quotes, because only the host defines which local parts are the same.
    func compared(with other: ConstrainedMailbox) -> Containment {
        guard host == other.host else { return .outside }
        if local == other.local { return .inside }
        let isQuoted = (local + other.local).utf8.contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
        return isQuoted || local.lowercased() == other.local.lowercased() ? .undetermined : .outside
    }
}
