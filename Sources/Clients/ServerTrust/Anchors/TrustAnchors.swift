import LinuxSupport

/// Whom trust begins with: authorities, or servers' own certificates. Copies share one index.
public struct TrustAnchors: Sendable {
    private let source: AnchorSource

    var index: AnchorIndex { source.index }

    init(_ read: @escaping @Sendable () -> AnchorIndex) {
        source = AnchorSource(read)
    }

    init(index: AnchorIndex) {
        self.init { index }
    }

    /// These and no others; nobody if there are none.
    public init(_ certificates: [TrustCertificate]) {
        self.init(index: AnchorIndex(certificates, problem: certificates.isEmpty ? "an empty list was given" : nil))
    }

    /// The roots of this machine, as ``SystemAnchors`` finds them. They are read once, by the first evaluation that needs them, which
    /// reads files and takes some tens of milliseconds. A program that finds none trusts nobody, and its failures say what was
    /// looked for (``TrustFailure/noAnchors(_:)``).
    public static let system = systemNow()

    /// The same, read anew by the first evaluation that needs these.
    package static func systemNow() -> TrustAnchors {
        TrustAnchors {
            SystemAnchors(
                file: EnvironmentVariable.value(of: "SSL_CERT_FILE"),
                directories: EnvironmentVariable.value(of: "SSL_CERT_DIR")
            ).anchors.index
        }
    }

    /// These and others: the roots of this machine and one of your own, for example. Nothing is read yet.
    public func adding(_ certificates: [TrustCertificate]) -> TrustAnchors {
        TrustAnchors { AnchorIndex(index.all.union(certificates)) }
    }

    /// How many there are.
    public var count: Int { index.all.count }

    /// In no order.
    public var certificates: [TrustCertificate] { Array(index.all) }
}

extension TrustAnchors: Hashable {
    /// Whether the same certificates are trusted.
    public static func == (one: TrustAnchors, other: TrustAnchors) -> Bool {
        one.source === other.source || one.index.all == other.index.all
    }

    /// Only the number, for others are seldom compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(index.all.count)
    }
}

/// Anchors that are read when somebody first needs them, once.
final class AnchorSource: Sendable {
    private let read: @Sendable () -> AnchorIndex
    private let known: Locked<AnchorIndex?>

    init(_ read: @escaping @Sendable () -> AnchorIndex) {
        self.read = read
        known = Locked(nil)
    }

    /// What has been read. Whoever else needs it while it is being read waits for it.
    var index: AnchorIndex {
        known.withLock { known in
            if let known { return known }
            let index = read()
            known = index
            return index
        }
    }
}
