/// How revocation is looked into: the names and raw values of Apple's `kSecRevocation` constants (`SecPolicy.h`).
public struct RevocationFlags: OptionSet, Hashable, Sendable {
    /// Apple's `CFOptionFlags`.
    public let rawValue: UInt

    /// The flags with these bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// By OCSP (RFC 6960).
    public static let ocsp = RevocationFlags(rawValue: 1 << 0)
    /// By certificate revocation lists (RFC 5280, section 5).
    public static let crl = RevocationFlags(rawValue: 1 << 1)
    /// Lists before OCSP, where there are both.
    public static let preferCRL = RevocationFlags(rawValue: 1 << 2)
    /// Without an answer about each certificate but the anchor the server is not trusted (hard fail). Without this flag only an
    /// answer that says revoked counts.
    public static let requirePositiveResponse = RevocationFlags(rawValue: 1 << 3)
    /// Only what is at hand is asked: the stapled response, lists that were given, and what is remembered.
    public static let networkAccessDisabled = RevocationFlags(rawValue: 1 << 4)
    /// OCSP or lists, whichever there is. Flags with neither mean the same, for else nothing would ever be known.
    public static let any: RevocationFlags = [.ocsp, .crl]
    /// The same by its name in `SecPolicy.h`.
    public static let useAnyAvailableMethod = any
}

/// One of the two ways to learn of revocation.
enum RevocationMethod {
    case ocsp, lists
}

extension RevocationFlags {
    /// Which may be used, the preferred one first.
    var methods: [RevocationMethod] {
        let any: [RevocationMethod] = contains(.preferCRL) ? [.lists, .ocsp] : [.ocsp, .lists]
        // With neither flag nothing would ever be known: who sets only how to ask means any.
        guard !isDisjoint(with: .any) else { return any }
        return any.filter { contains($0 == .ocsp ? .ocsp : .crl) }
    }
}
