/// How long and how much is waited for, and how long answers count.
public struct RevocationSettings: Hashable, Sendable {
    /// By how much the clocks of responders and this machine may differ.
    public var clockSkew: Duration = .seconds(300)

    /// How old an OCSP response may be that does not say until when it is good. It is never kept.
    public var maximumAgeWithoutNextUpdate: Duration = .seconds(3600)

    /// How long the responders and lists of one evaluation are waited for, all together. It must be shorter than what a client gives an
    /// evaluation, or those who fail softly fail hard.
    public var timeLimit: Duration = .seconds(5)

    /// How long a responder or list is waited for alone, before the next one is asked beside it; if it fails, that is asked at once.
    public var headStart: Duration = .milliseconds(500)

    /// How long a responder or list that did not answer, or not with what can be read, is not asked again where no answer is required
    /// (soft fail): each handshake would else wait for it once more. Zero asks each time. Where an answer is required
    /// (``RevocationFlags/requirePositiveResponse``) it is asked each time.
    public var pauseAfterFailure: Duration = .seconds(60)

    /// The most bytes of an OCSP response, stapled or fetched.
    public var maximumResponseBytes = 64 << 10

    /// The most bytes of a list that is fetched. In memory it takes about twice as much.
    public var maximumListBytes = 8 << 20

    /// How many of the responders, and how many of the lists, that a certificate names are asked in turn.
    public var maximumSources = 2

    /// Whether OCSP requests have a nonce (RFC 9654), so that no old answer can be played again. Many responders ignore it, which is
    /// tolerated; without, requests can be answered from the caches of HTTP (RFC 5019).
    public var usesNonce = true

    /// The most answers of responders that are kept.
    public var cachedAnswers = 1024

    /// The most fetched lists that are kept.
    public var cachedLists = 16

    /// All at their defaults.
    public init() {}
}

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
