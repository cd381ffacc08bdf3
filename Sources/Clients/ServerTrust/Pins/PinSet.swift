/// Pins that people can keep: more than one, with a date after which they only report, so that a forgotten client comes back to life.
///
/// ```swift
/// let pins = try PinSet(
///     ["sha256/YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg=", "sha256/Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys="],
///     expires: TrustTime(year: 2027, month: 11, day: 1)
/// )
/// ```
public struct PinSet: Sendable {
    /// Hears of pins that did not match; called on the thread that evaluates, so it should not wait.
    public typealias Reporter = @Sendable (PinReport) -> Void

    /// In the order given, without repetitions.
    public let pins: [PublicKeyPin]

    /// From this moment on a mismatch is only reported; nil for never.
    public let expires: TrustTime?

    /// Whether a mismatch is only reported: to try pins before they count.
    public let reportsOnly: Bool

    let reporter: Reporter?

    /// - Parameters:
    ///   - pins: `sha256/BASE64` each.
    ///   - requiresBackup: Whether one pin alone is an error. It should be: a backup is a key that no server uses yet.
    ///   - expires: From when on a mismatch is only reported.
    ///   - reportsOnly: Whether a mismatch is only reported.
    ///   - reporter: Hears of every mismatch.
    /// - Throws: ``PinError``.
    public init(
        _ pins: [String],
        requiresBackup: Bool = true,
        expires: TrustTime? = nil,
        reportsOnly: Bool = false,
        reporter: Reporter? = nil
    ) throws(PinError) {
        var read: [PublicKeyPin] = []
        for text in pins { read.append(try PublicKeyPin(text)) }
        try self.init(
            read,
            requiresBackup: requiresBackup,
            expires: expires,
            reportsOnly: reportsOnly,
            reporter: reporter
        )
    }

    /// The same with pins that have been read.
    public init(
        _ pins: [PublicKeyPin],
        requiresBackup: Bool = true,
        expires: TrustTime? = nil,
        reportsOnly: Bool = false,
        reporter: Reporter? = nil
    ) throws(PinError) {
        var seen: Set<PublicKeyPin> = []
        self.pins = pins.filter { seen.insert($0).inserted }
        guard !self.pins.isEmpty else { throw .empty }
        guard self.pins.count > 1 || !requiresBackup else { throw .backupPinMissing }
        self.expires = expires
        self.reportsOnly = reportsOnly
        self.reporter = reporter
    }

    /// Whether a mismatch at that time refuses the server.
    public func isEnforced(at time: TrustTime) -> Bool {
        guard !reportsOnly else { return false }
        guard let expires else { return true }
        return time < expires
    }
}

/// A server whose chain has none of the pins.
public struct PinReport: Hashable, Sendable {
    /// The host that was meant.
    public let host: String
    /// When, by the trust's time.
    public let time: TrustTime
    /// What would have been right.
    public let expected: [PublicKeyPin]
    /// What there is on the chain, the server's own first.
    public let presented: [PublicKeyPin]
    /// The chain.
    public let chain: [TrustCertificate]
    /// Whether the server was refused for it; not so in a set that has expired or only reports.
    public let isEnforced: Bool
}
