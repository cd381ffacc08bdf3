/// That a certificate was taken back: when, why, and who says so.
public struct RevocationRecord: Hashable, Sendable {
    /// Since when it counts as taken back; nil if that is not told.
    public let time: TrustTime?

    /// Nil if none is told.
    public let reason: RevocationReason?

    /// Who says so.
    public let source: RevocationSource

    /// Checkers of your own make these.
    public init(time: TrustTime? = nil, reason: RevocationReason? = nil, source: RevocationSource) {
        self.time = time
        self.reason = reason
        self.source = source
    }
}

extension RevocationRecord: CustomStringConvertible {
    /// `since 2026-03-01T00:00:00Z, keyCompromise, says the stapled response`.
    public var description: String {
        [time.map { "since \($0)" }, reason?.description, "says \(source)"].compactMap { $0 }.joined(separator: ", ")
    }
}
