/// Whom trust begins with: authorities, or servers' own certificates. Copies share one index.
public struct TrustAnchors: Sendable {
    let index: AnchorIndex

    init(index: AnchorIndex) {
        self.index = index
    }

    /// These and no others; nobody if there are none.
    public init(_ certificates: [TrustCertificate]) {
        index = AnchorIndex(certificates, problem: certificates.isEmpty ? "an empty list was given" : nil)
    }

    /// The roots of this machine, as ``SystemAnchors`` finds them; read once, at first use, which may take some milliseconds and
    /// reads files. A program that finds none trusts nobody, and its failures say what was looked for
    /// (``TrustFailure/noAnchors(_:)``).
    public static var system: TrustAnchors { SystemAnchors.shared.anchors }

    /// These and others: the roots of this machine and one of your own, for example.
    public func adding(_ certificates: [TrustCertificate]) -> TrustAnchors {
        TrustAnchors(index: AnchorIndex(index.all.union(certificates)))
    }

    /// How many there are.
    public var count: Int { index.all.count }

    /// In no order.
    public var certificates: [TrustCertificate] { Array(index.all) }
}

extension TrustAnchors: Hashable {
    /// Whether the same certificates are trusted.
    public static func == (one: TrustAnchors, other: TrustAnchors) -> Bool {
        one.index === other.index || one.index.all == other.index.all
    }

    /// Only the number, for others are seldom compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(index.all.count)
    }
}
