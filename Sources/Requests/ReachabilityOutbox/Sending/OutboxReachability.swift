/// What an outbox asks whether a host can be reached.
public struct OutboxReachability: Sendable {
    /// Whether a host can be reached: each loop begins with what is so now, as soon as that is known, and goes on with each
    /// change.
    public typealias Changes = any AsyncSequence<Bool, Never> & Sendable

    let watch: @Sendable (_ host: String) -> Changes
    let reason: @Sendable (_ host: String) async -> String?

    /// - Parameters:
    ///   - watch: Called for a host when there is something to send to it. The result is looped over whenever it must be known
    ///     whether the host can be reached, and kept while there are requests for it.
    ///   - reason: Asked why a host cannot be reached, in a few words for people; nil where that is not known.
    public init(
        _ watch: @escaping @Sendable (_ host: String) -> Changes,
        reason: @escaping @Sendable (_ host: String) async -> String? = { _ in nil }
    ) {
        self.watch = watch
        self.reason = reason
    }

    /// Every host counts as reachable: sending is tried.
    public static let always = OutboxReachability { _ in AlwaysReachable() }
}

/// A host that counts as reachable.
struct AlwaysReachable: AsyncSequence, Sendable {
    typealias Element = Bool
    typealias Failure = Never

    func makeAsyncIterator() -> Iterator { Iterator() }

    /// Says so once.
    struct Iterator: AsyncIteratorProtocol {
        private var isOver = false

        mutating func next() async -> Bool? {
            defer { isOver = true }
            return isOver ? nil : true
        }

        mutating func next(isolation actor: isolated (any Actor)?) async -> Bool? {
            defer { isOver = true }
            return isOver ? nil : true
        }
    }
}
