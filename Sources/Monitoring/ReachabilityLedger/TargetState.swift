/// What is so of a target at one moment: whether it is up, and if not, whose fault that is and why.
public struct TargetState: Hashable, Sendable {
    /// Whose fault it is.
    public var attribution: Attribution
    /// Why; nil while the target is up, except if it is degraded.
    public var cause: OutageCause?
    /// What this is based on.
    public var basis: AttributionBasis
    /// Whether the time is one of planned maintenance, which counts for nobody.
    public var isMaintenance: Bool

    /// - Parameters:
    ///   - attribution: Whose fault it is.
    ///   - cause: Why; for ``Attribution/up`` ignored except for ``OutageCause/degraded``.
    ///   - basis: What this is based on.
    ///   - isMaintenance: Whether maintenance is planned for the time.
    public init(
        _ attribution: Attribution,
        _ cause: OutageCause? = nil,
        basis: AttributionBasis = .path,
        isMaintenance: Bool = false
    ) {
        self.attribution = attribution
        self.cause = attribution == .up && cause != .degraded ? nil : cause
        self.basis = basis
        self.isMaintenance = isMaintenance
    }

    /// The account its time goes to.
    public var account: LedgerAccount { isMaintenance ? .maintenance : LedgerAccount(attribution) }

    /// Whether time in this state belongs to an outage.
    public var isOutage: Bool {
        !isMaintenance && (attribution == .us || attribution == .upstream || attribution == .them)
    }

    /// A Boolean value that indicates whether the target is up, but works only in part.
    public var isDegraded: Bool { account == .up && cause == .degraded }

    /// For example `us.link`; `up`; `up.degraded`.
    public var description: String {
        ([attribution.rawValue] + (cause.map { [$0.rawValue] } ?? [])).joined(separator: ".")
    }
}

extension TargetState: CustomStringConvertible {}

/// The six accounts that every second of a target goes to exactly one of.
public enum LedgerAccount: String, Hashable, Sendable, Codable, CaseIterable {
    case up, us, upstream, them, unknown, maintenance

    init(_ attribution: Attribution) {
        switch attribution {
        case .up: self = .up
        case .us: self = .us
        case .upstream: self = .upstream
        case .them: self = .them
        case .unknown: self = .unknown
        }
    }
}
