/// The time and size limits of revocation checks, and the validity of cached results.
public struct RevocationSettings: Hashable, Sendable {
    /// The permitted difference between the clocks of responders and of this machine.
    public var clockSkew: Duration = .seconds(300)

    /// The maximum age of an OCSP response without nextUpdate. Such a response is not cached.
    public var maximumAgeWithoutNextUpdate: Duration = .seconds(3600)

    /// The time limit of all queries of one evaluation. It must be shorter than the time limit of the client. Otherwise
    /// evaluations that accept an unknown status (soft fail) fail when a source does not respond.
    public var timeLimit: Duration = .seconds(5)

    /// The delay before the next responder or list is also queried. If a query fails, the next one starts immediately.
    public var headStart: Duration = .milliseconds(500)

    /// The time for which a failed responder or list is not queried again if no response is required (soft fail), so
    /// that not every handshake waits for it. Zero queries each time. With ``RevocationFlags/requirePositiveResponse``
    /// each evaluation queries.
    public var pauseAfterFailure: Duration = .seconds(60)

    /// The maximum size of an OCSP response in bytes, stapled or fetched.
    public var maximumResponseBytes = 64 << 10

    /// The maximum size of a fetched list in bytes. It takes about twice as much memory.
    public var maximumListBytes = 8 << 20

    /// The maximum number of responders, and of list URLs, of one certificate that are queried.
    public var maximumSources = 2

    /// A Boolean value that indicates whether OCSP requests contain a nonce (RFC 9654), which prevents the replay of
    /// old responses. A response without a nonce is accepted, because many responders ignore it. Requests without a
    /// nonce can be answered from HTTP caches (RFC 5019).
    public var usesNonce = true

    /// The maximum number of cached responses.
    public var cachedAnswers = 1024

    /// The maximum number of cached lists.
    public var cachedLists = 16

    /// Creates settings with the defaults.
    public init() {}
}

/// Options of revocation checks, with the names and raw values of Apple's `kSecRevocation` constants (`SecPolicy.h`).
public struct RevocationFlags: OptionSet, Hashable, Sendable {
    /// The bits of Apple's `CFOptionFlags`.
    public let rawValue: UInt

    /// Creates the flags with these bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// OCSP is permitted (RFC 6960).
    public static let ocsp = RevocationFlags(rawValue: 1 << 0)
    /// Certificate revocation lists are permitted (RFC 5280, 5).
    public static let crl = RevocationFlags(rawValue: 1 << 1)
    /// Revocation lists are used before OCSP if both are permitted.
    public static let preferCRL = RevocationFlags(rawValue: 1 << 2)
    /// A good status is required for each certificate except the anchor (hard fail). Without this flag, only a revoked
    /// status refuses the server (soft fail).
    public static let requirePositiveResponse = RevocationFlags(rawValue: 1 << 3)
    /// No queries are sent. Only the stapled response, given lists and cached results are used.
    public static let networkAccessDisabled = RevocationFlags(rawValue: 1 << 4)
    /// OCSP and lists are permitted. Flags with neither have the same meaning, because otherwise no status could be
    /// known.
    public static let any: RevocationFlags = [.ocsp, .crl]
    /// Another name of ``any``, as in `SecPolicy.h`.
    public static let useAnyAvailableMethod = any
}

/// A method of revocation checks.
enum RevocationMethod {
    case ocsp, lists
}

extension RevocationFlags {
    /// The permitted methods, the preferred one first.
    var methods: [RevocationMethod] {
        let any: [RevocationMethod] = contains(.preferCRL) ? [.lists, .ocsp] : [.ocsp, .lists]
        // Without either flag both methods are permitted, because otherwise no status could be known.
        guard !isDisjoint(with: .any) else { return any }
        return any.filter { contains($0 == .ocsp ? .ocsp : .crl) }
    }
}
