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
