import SwiftASN1
import X509

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
