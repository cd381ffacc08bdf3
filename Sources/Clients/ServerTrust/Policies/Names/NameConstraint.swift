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

/// A name of a certificate, read once to be compared with many constraints (RFC 5280, 4.2.1.10). Nil stands for what cannot be read.
enum ConstrainedName {
    /// With a wildcard, what is behind `*.`.
    case host(ConstrainedDomain?, isWildcard: Bool)
    case address([UInt8])
    case mailbox(ConstrainedMailbox?)
    /// The host of a URI.
    case identifier(ConstrainedDomain?)
    case directory(CanonicalName)
    case otherName, x400Address, ediPartyName, registeredID

    init(_ name: GeneralName) {
        switch name {
        case .dnsName(let text):
            let isWildcard = text.hasPrefix("*.")
            self = .host(ConstrainedDomain(isWildcard ? text.dropFirst(2) : text[...]), isWildcard: isWildcard)
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

    /// All names of a certificate: subjectAltName and subject. Without the former, a mail address in the latter counts as such.
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

    /// Nil where there is none that is a name. Characters that no URI has are read differently by everybody.
    private static func host(of identifier: String) -> ConstrainedDomain? {
        guard identifier.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }),
            let colon = identifier.unicodeScalars.firstIndex(of: ":")
        else { return nil }
        let rest = identifier[identifier.unicodeScalars.index(after: colon)...]
        guard rest.hasPrefix("//") else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
        let start =
            authority.unicodeScalars.lastIndex(of: "@").map(authority.unicodeScalars.index(after:))
            ?? authority.startIndex
        return ConstrainedDomain(authority[start...].prefix { $0 != ":" })
    }
}

/// A mail address (RFC 5321, 4.1.2).
struct ConstrainedMailbox {
    let local: String
    let host: ConstrainedDomain

    /// Nil when the text is none.
    init?(_ text: String) {
        guard let at = text.unicodeScalars.lastIndex(of: "@"), at > text.startIndex,
            let host = ConstrainedDomain(text[text.unicodeScalars.index(after: at)...])
        else { return nil }
        local = String(text[..<at])
        self.host = host
    }

    /// Whether this is the mailbox of another name. Only its host knows which letters it tells apart, and quotes may be left out.
    func compared(with other: ConstrainedMailbox) -> Containment {
        guard host == other.host else { return .outside }
        if local == other.local { return .inside }
        let isQuoted = (local + other.local).utf8.contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
        return isQuoted || local.lowercased() == other.local.lowercased() ? .doubtful : .outside
    }
}

/// A host name as constraints compare it: its letters with a dot in front, so that what is below another ends in it.
struct ConstrainedDomain: Hashable {
    private let letters: [UInt8]

    /// Nil when the text is no host name.
    init?(_ text: some StringProtocol) {
        guard let name = DNSName(ascii: String(text), allowsFinalDot: true) else { return nil }
        letters = Array(".\(name)".utf8)
    }

    /// Whether this is a proper subdomain of another.
    func isBelow(_ other: ConstrainedDomain) -> Bool {
        letters.count > other.letters.count && letters.suffix(other.letters.count).elementsEqual(other.letters)
    }
}
