/// How often a target's status changed lately, and whether that is too often. Pure: time is a parameter.
struct FlapCounter: Sendable {
    /// No more changes than these are remembered, however many there are.
    static let limit = 100

    /// When the status changed, oldest first.
    private var changes: [Duration] = []
    private var status: NetworkReachabilityStatus?
    private(set) var isFlapping = false

    /// Takes the status of the latest evaluation. The first one is no change.
    mutating func take(_ status: NetworkReachabilityStatus, at now: @autoclosure () -> Duration) {
        guard status != self.status else { return }
        defer { self.status = status }
        guard self.status != nil else { return }
        let now = now()
        forget(at: now)
        if changes.count == Self.limit { changes.removeFirst() }
        changes.append(now)
        if changes.count >= NetworkPath.flappingChanges { isFlapping = true }
    }

    /// Forgets what is too long ago to count.
    mutating func forget(at now: Duration) {
        let old = changes.prefix { now - $0 >= NetworkPath.flappingWindow }.count
        if old > 0 { changes.removeFirst(old) }
        if changes.isEmpty { isFlapping = false }
    }

    /// The changes that count.
    var count: Int { changes.count }

    /// When flapping ends if nothing changes any more; nil when there is none.
    var end: Duration? { isFlapping ? changes.last.map { $0 + NetworkPath.flappingWindow } : nil }
}
