/// Which questions to the name service wait, run, and have been given up. Pure: it says what to do and does nothing.
///
/// The C library blocks for as long as it likes, and a thread inside of it cannot be stopped. So a slow question lets others go before
/// it, one that takes too long is answered for it, and its thread is left alone until it returns.
package struct LookupQueue {
    package typealias Answer = Result<[NameLookup.Address], NameLookup.Failure>

    package struct Limits: Sendable {
        /// So many questions run at once, besides those that are slow.
        package var running = 4
        /// A question that runs for longer is slow.
        package var patience = Duration.seconds(2)
        /// A question that runs for longer is given up.
        package var deadline = Duration.seconds(30)
        /// So many threads may be held by questions that are slow or given up.
        package var stuck = 16
        /// So many of those by questions for the same name; more would not help it, and take the place of others.
        package var stuckWithOneName = 2

        package init() {}
    }

    package struct Lookup: Sendable {
        package let name: String
        package let completion: @Sendable (Answer) -> Void

        package init(name: String, completion: @escaping @Sendable (Answer) -> Void) {
            (self.name, self.completion) = (name, completion)
        }
    }

    /// A question that runs. The number tells it from others for the same name.
    package struct Question: Sendable {
        fileprivate let number: UInt64
        package let name: String
    }

    package enum Action: Sendable {
        /// Ask on a thread that has nothing else to do, and say ``finish(_:with:at:)`` or ``cannotStart(_:because:)``.
        case start(Question)
        /// Tell whoever asked, once.
        case complete(Lookup, Answer)
    }

    private struct Running {
        let lookup: Lookup
        let since: Duration
    }

    private let limits: Limits
    private var waiting: ArraySlice<Lookup> = []
    private var running: [UInt64: Running] = [:]
    /// The names of the questions that were given up and have not returned.
    private var stuck: [UInt64: String] = [:]
    private var started: UInt64 = 0

    package init(limits: Limits) {
        self.limits = limits
    }

    package mutating func ask(_ lookup: Lookup, at now: Duration) -> [Action] {
        if let refusal = refusal(of: lookup) { return [refusal] }
        waiting.append(lookup)
        return startWaiting(at: now)
    }

    /// Takes what the C library said. After the question was given up it counts for nothing, and only its thread is free again.
    package mutating func finish(_ question: Question, with answer: Answer, at now: Duration) -> [Action] {
        stuck[question.number] = nil
        let lookup = running.removeValue(forKey: question.number)?.lookup
        return (lookup.map { [.complete($0, answer)] } ?? []) + startWaiting(at: now)
    }

    /// There was no thread for the question. It waits for one that will be free; where there is none, nobody would ever ask.
    package mutating func cannotStart(_ question: Question, because cause: SystemError) -> [Action] {
        guard let lookup = running.removeValue(forKey: question.number)?.lookup else { return [] }
        waiting.insert(lookup, at: waiting.startIndex)
        guard running.isEmpty else { return [] }
        return refuseWaiting { "cannot start a thread to resolve \($0): \(cause)" }
    }

    /// Gives up what has run for too long, and starts what has waited for it.
    package mutating func advance(to now: Duration) -> [Action] {
        var actions: [Action] = []
        for (number, entry) in running where now - entry.since >= limits.deadline {
            running[number] = nil
            stuck[number] = entry.lookup.name
            let limit = "\(limits.deadline.components.seconds) s"
            let cause = "the name service has not answered \(entry.lookup.name) within \(limit)"
            actions.append(.complete(entry.lookup, .failure(.unavailable(cause))))
        }
        return actions + startWaiting(at: now)
    }

    /// When to ``advance(to:)``; nil while nothing runs.
    package func nextAdvance(after now: Duration) -> Duration? {
        let ends = running.values.map { $0.since + limits.deadline }
        let patience = waiting.isEmpty ? [] : running.values.map { $0.since + limits.patience }.filter { $0 > now }
        return (ends + patience).min()
    }

    private mutating func startWaiting(at now: Duration) -> [Action] {
        if stuck.count >= limits.stuck { return refuseWaiting(Self.allStuck) }
        var actions: [Action] = []
        while hasRoom(at: now), let lookup = waiting.popFirst() {
            if let refusal = refusal(of: lookup) {
                actions.append(refusal)
                continue
            }
            started += 1
            running[started] = Running(lookup: lookup, since: now)
            actions.append(.start(Question(number: started, name: lookup.name)))
        }
        // A slice keeps what was taken from it.
        if waiting.isEmpty { waiting = [] }
        return actions
    }

    private func hasRoom(at now: Duration) -> Bool {
        let slow = running.values.count { now - $0.since >= limits.patience }
        return running.count - slow < limits.running && running.count + stuck.count < limits.running + limits.stuck
    }

    private func refusal(of lookup: Lookup) -> Action? {
        let cause: (String) -> String
        if stuck.count >= limits.stuck {
            cause = Self.allStuck
        } else if stuck.values.count(where: { $0 == lookup.name }) >= limits.stuckWithOneName {
            cause = { "the name service still owes the answers to earlier questions for \($0)" }
        } else {
            return nil
        }
        return .complete(lookup, .failure(.unavailable(cause(lookup.name))))
    }

    private static func allStuck(_ name: String) -> String {
        "too many questions to the name service have not returned, so it is not asked for \(name)"
    }

    private mutating func refuseWaiting(_ cause: (String) -> String) -> [Action] {
        defer { waiting = [] }
        return waiting.map { .complete($0, .failure(.unavailable(cause($0.name)))) }
    }
}
