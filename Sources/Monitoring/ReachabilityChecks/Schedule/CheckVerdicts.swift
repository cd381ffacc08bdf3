/// The verdicts of a check that goes on, as an asynchronous sequence: the first as soon as there is one, and each that differs from the one
/// before. It never fails, and ends with the loop or its task.
///
/// Each loop over it is a session of its own, of which nothing is left when the loop ends.
struct CheckVerdicts: AsyncSequence, Sendable {
    typealias Element = CheckVerdict
    /// What cannot be checked is a verdict.
    typealias Failure = Never

    private let makeSession: @Sendable () -> CheckSession

    init(_ makeSession: @escaping @Sendable () -> CheckSession) {
        self.makeSession = makeSession
    }

    func makeAsyncIterator() -> Iterator { Iterator(makeSession()) }

    /// Reads one loop's verdicts.
    struct Iterator: AsyncIteratorProtocol {
        private var stream: AsyncStream<CheckVerdict>.Iterator
        private let session: Running
        private var last: CheckVerdict?

        fileprivate init(_ session: CheckSession) {
            stream = session.verdicts.makeAsyncIterator()
            self.session = Running(session)
        }

        /// The next verdict that is news; nil when the task is cancelled. What was skipped over may have led back to where the reader was.
        mutating func next() async -> CheckVerdict? { await next(isolation: #isolation) }

        /// The next verdict that is news; nil when the task is cancelled.
        mutating func next(isolation actor: isolated (any Actor)?) async -> CheckVerdict? {
            while let verdict = await stream.next(isolation: actor) {
                if last?.isSame(as: verdict) == true { continue }
                last = verdict
                return verdict
            }
            session.end()
            return nil
        }
    }

    /// A session that runs as long as somebody reads.
    private final class Running: Sendable {
        private let task: Task<Void, Never>

        init(_ session: CheckSession) {
            task = Task { await session.run() }
        }

        func end() { task.cancel() }

        deinit {
            end()
        }
    }
}
