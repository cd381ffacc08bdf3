import Netlink
import SwiftASN1
import X509

/// One subtree of names (GeneralSubtree, RFC 5280, 4.2.1.10).
struct NameConstraint {
    private let subtree: GeneralName

    init(_ subtree: GeneralName) {
        self.subtree = subtree
    }

    /// Whether a name is of the constraint's form.
    func concerns(_ name: GeneralName) -> Bool {
        switch (subtree, name) {
        case (.dnsName, .dnsName), (.ipAddress, .ipAddress), (.rfc822Name, .rfc822Name),
            (.uniformResourceIdentifier, .uniformResourceIdentifier), (.directoryName, .directoryName),
            (.otherName, .otherName), (.x400Address, .x400Address), (.ediPartyName, .ediPartyName),
            (.registeredID, .registeredID):
            true
        default:
            false
        }
    }

    /// Whether all that the name stands for is in the subtree. In doubt it is not.
    func holds(_ name: GeneralName) -> Bool {
        switch (subtree, name) {
        case (.dnsName(let constraint), .dnsName(let name)): Self.isWithin(name, constraint)
        case (.ipAddress(let constraint), .ipAddress(let address)):
            Self.isAddress(Array(address.bytes), in: Array(constraint.bytes)) ?? false
        case (.rfc822Name(let constraint), .rfc822Name(let mailbox)): Self.isMailbox(mailbox, in: constraint) ?? false
        case (.uniformResourceIdentifier(let constraint), .uniformResourceIdentifier(let identifier)):
            Self.isIdentifier(identifier, in: constraint) ?? false
        case (.directoryName(let constraint), .directoryName(let name)): name.isWithin(constraint)
        default: false
        }
    }

    /// Whether something the name stands for may be in the subtree. In doubt it is.
    func mayHold(_ name: GeneralName) -> Bool {
        switch (subtree, name) {
        case (.dnsName(let constraint), .dnsName(let name)):
            // `*.example.com` is also `host.example.com`.
            Self.isWithin(name, constraint) || name.hasPrefix("*.") && Self.isChild(constraint, of: name.dropFirst(2))
                || DNSName(ascii: name.hasPrefix("*.") ? String(name.dropFirst(2)) : name, allowsFinalDot: true) == nil
        case (.ipAddress(let constraint), .ipAddress(let address)):
            Self.isAddress(Array(address.bytes), in: Array(constraint.bytes)) ?? true
        case (.rfc822Name(let constraint), .rfc822Name(let mailbox)): Self.isMailbox(mailbox, in: constraint) ?? true
        case (.uniformResourceIdentifier(let constraint), .uniformResourceIdentifier(let identifier)):
            Self.isIdentifier(identifier, in: constraint) ?? true
        case (.directoryName(let constraint), .directoryName(let name)): name.isWithin(constraint)
        default: concerns(name)
        }
    }

    /// `example.com` holds itself and all below, `.example.com` only what is below, nothing at all holds everything.
    private static func isWithin(_ name: String, _ constraint: String) -> Bool {
        if constraint.isEmpty { return true }
        let isOnlyBelow = constraint.hasPrefix(".")
        let domain = isOnlyBelow ? String(constraint.dropFirst()) : constraint
        // A wildcard's star is a label like others: everything below it is below what is behind it.
        let plain = name.hasPrefix("*.") ? "wildcard" + name.dropFirst() : name
        guard let domain = DNSName(ascii: domain, allowsFinalDot: true) else { return false }
        guard let name = DNSName(ascii: plain, allowsFinalDot: true) else { return false }
        return name.isBelow(domain) || !isOnlyBelow && name == domain
    }

    private static func isChild(_ constraint: String, of parent: Substring) -> Bool {
        let constraint = constraint.hasPrefix(".") ? String(constraint.dropFirst()) : constraint
        guard let constraint = DNSName(ascii: constraint, allowsFinalDot: true) else { return true }
        guard let parent = DNSName(ascii: String(parent), allowsFinalDot: true) else { return true }
        return constraint.isBelow(parent)
    }

    /// The constraint is an address and a mask; nil where that makes no sense.
    private static func isAddress(_ address: [UInt8], in constraint: [UInt8]) -> Bool? {
        guard constraint.count == 8 || constraint.count == 32 else { return nil }
        guard address.count == 4 || address.count == 16 else { return nil }
        guard constraint.count == 2 * address.count else { return false }
        return zip(address, zip(constraint.prefix(address.count), constraint.suffix(address.count)))
            .allSatisfy { byte, range in byte & range.1 == range.0 & range.1 }
    }

    /// A mailbox, all mailboxes of a host, or with a dot all hosts of a domain.
    private static func isMailbox(_ mailbox: String, in constraint: String) -> Bool? {
        guard let at = mailbox.lastIndex(of: "@") else { return nil }
        let host = mailbox[mailbox.index(after: at)...]
        if let at = constraint.lastIndex(of: "@") {
            let constrained = constraint[constraint.index(after: at)...]
            return mailbox[..<at] == constraint[..<at] && host.lowercased() == constrained.lowercased()
        }
        return isHost(String(host), in: constraint)
    }

    /// The host of a URI; nil where it has none that is a name.
    private static func isIdentifier(_ identifier: String, in constraint: String) -> Bool? {
        guard let colon = identifier.firstIndex(of: ":") else { return nil }
        let rest = identifier[identifier.index(after: colon)...]
        guard rest.hasPrefix("//") else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
        let host = authority[(authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex)...]
            .prefix { $0 != ":" }
        return isHost(String(host), in: constraint)
    }

    private static func isHost(_ host: String, in constraint: String) -> Bool? {
        guard let name = DNSName(ascii: host, allowsFinalDot: true) else { return nil }
        let domain = constraint.hasPrefix(".") ? String(constraint.dropFirst()) : constraint
        guard let domain = DNSName(ascii: domain, allowsFinalDot: true) else { return nil }
        return constraint.hasPrefix(".") ? name.isBelow(domain) : name == domain
    }
}
