/// Why a certificate was taken back (CRLReason, RFC 5280, 5.3.1).
public struct RevocationReason: RawRepresentable, Hashable, Sendable {
    /// The number of CRLReason.
    public let rawValue: Int

    /// The reason with this number.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// None is told.
    public static let unspecified = RevocationReason(rawValue: 0)
    /// Somebody else has, or may have, the key.
    public static let keyCompromise = RevocationReason(rawValue: 1)
    /// Somebody else has, or may have, the authority's key.
    public static let caCompromise = RevocationReason(rawValue: 2)
    /// The names in it are not right any more.
    public static let affiliationChanged = RevocationReason(rawValue: 3)
    /// There is another for it.
    public static let superseded = RevocationReason(rawValue: 4)
    /// It is not needed any more.
    public static let cessationOfOperation = RevocationReason(rawValue: 5)
    /// For now; the only reason that may be taken back.
    public static let certificateHold = RevocationReason(rawValue: 6)
    /// It is not on hold any more. Only in delta lists.
    public static let removeFromCRL = RevocationReason(rawValue: 8)
    /// A right that is in it is not given any more.
    public static let privilegeWithdrawn = RevocationReason(rawValue: 9)
    /// Somebody else has the key of an attribute authority.
    public static let aaCompromise = RevocationReason(rawValue: 10)

    private static let names: [RevocationReason: String] = [
        unspecified: "unspecified", keyCompromise: "keyCompromise", caCompromise: "caCompromise",
        affiliationChanged: "affiliationChanged", superseded: "superseded",
        cessationOfOperation: "cessationOfOperation", certificateHold: "certificateHold",
        removeFromCRL: "removeFromCRL", privilegeWithdrawn: "privilegeWithdrawn", aaCompromise: "aaCompromise",
    ]
}

extension RevocationReason: CustomStringConvertible {
    /// The name in RFC 5280, or `reason 42`.
    public var description: String { Self.names[self] ?? "reason \(rawValue)" }
}
