import LinuxSupport
import Netlink
import Testing

@testable import NetworkReachability

/// Blocking lookups on real threads. Names that begin with `dead` are not answered before the end of the test.
@Suite("Threads for the name service")
struct LookupThreadsTests {
    private typealias Answer = LookupQueue.Answer

    /// A C library whose name service does not answer some queries, and a system with a limited number of threads.
    private final class Service: Sendable {
        let end = Latch()
        let alive = Locked(0)
        let wereAlive = Locked(0)
        let answers: Locked<[String: [Answer]]> = Locked([:])
        private let threadLimit: Int

        init(threadLimit: Int = .max) {
            self.threadLimit = threadLimit
        }

        func threads(_ limits: LookupQueue.Limits = LookupQueue.Limits()) -> LookupThreads {
            LookupThreads(
                limits: limits,
                startThread: { [self] body throws(SystemError) in
                    let isFull = alive.withLock { alive in
                        if alive >= threadLimit { return true }
                        alive += 1
                        wereAlive.withLock { [now = alive] in $0 = max($0, now) }
                        return false
                    }
                    if isFull { throw .tryAgain }
                    try Thread.detach {
                        body()
                        self.alive.withLock { $0 -= 1 }
                    }
                },
                lookup: { [end] name in
                    if name.hasPrefix("dead") { _ = end.wait(atMost: .seconds(120)) }
                    return .success([])
                }
            )
        }

        func ask(_ threads: LookupThreads, _ name: String) async -> Answer {
            await withCheckedContinuation { told in
                threads.ask(for: name) { [answers] answer in
                    let isFirst = answers.withLock { answers in
                        answers[name, default: []].append(answer)
                        return answers[name]?.count == 1
                    }
                    if isFirst { told.resume(returning: answer) }
                }
            }
        }

        /// Lets every lookup return, and waits until the threads are idle.
        func finish() async {
            end.open()
            while alive.withLock({ $0 }) > 0 { await Task.yield() }
        }
    }

    /// Short limits, which the tests wait for.
    private var short: LookupQueue.Limits {
        var limits = LookupQueue.Limits()
        limits.patience = .milliseconds(5)
        limits.deadline = .milliseconds(50)
        return limits
    }

    @Test func `a query that never returns fails once, at the deadline`() async {
        let service = Service()
        let threads = service.threads(short)
        let answer = await service.ask(threads, "dead")
        #expect(answer == .failure(.unavailable("the name service has not answered dead within 0 s")))
        await service.finish()
        #expect(service.answers.withLock { $0["dead"]?.count } == 1)
    }

    @Test func `new names are resolved while all earlier queries hang`() async {
        let service = Service()
        var limits = short
        limits.deadline = .seconds(3600)
        let threads = service.threads(limits)
        for number in 0..<7 { threads.ask(for: "dead\(number)") { _ in } }
        for number in 0..<20 {
            #expect(await service.ask(threads, "fresh\(number)") == .success([]))
        }
        await service.finish()
    }

    @Test func `the number of threads is limited, and every caller is called once`() async {
        let service = Service()
        let threads = service.threads(short)
        await withTaskGroup { group in
            for number in 0..<100 { group.addTask { _ = await service.ask(threads, "dead\(number)") } }
        }
        #expect(service.wereAlive.withLock { $0 } <= 20)
        let refusal = await service.ask(threads, "fresh")
        let text = "too many queries to the name service have not returned; fresh is not resolved"
        #expect(refusal == .failure(.unavailable(text)))
        await service.finish()
        #expect(await service.ask(threads, "later") == .success([]))
        let counts = service.answers.withLock { $0.mapValues(\.count) }
        #expect(counts.count == 102 && counts.values.allSatisfy { $0 == 1 })
    }

    @Test(arguments: [0, 1, 2, 4])
    func `without new threads, every caller is called once`(limit: Int) async {
        let service = Service(threadLimit: limit)
        let threads = service.threads()
        await withTaskGroup { group in
            for number in 0..<100 {
                group.addTask {
                    let answer = await service.ask(threads, "name\(number)")
                    let cause = "cannot start a thread to resolve name\(number): Resource temporarily unavailable"
                    // The thread of the previous query may not have ended yet.
                    #expect(answer == .failure(.unavailable(cause)) || limit > 0 && answer == .success([]))
                }
            }
        }
        await service.finish()
        let counts = service.answers.withLock { $0.mapValues(\.count) }
        #expect(counts.count == 100 && counts.values.allSatisfy { $0 == 1 })
    }
}

/// The order of queries and the answers of callers, without threads.
@Suite("The queue of queries to the name service")
struct LookupQueueTests {
    /// The queue, with the queries that it has started and the answers that it has delivered.
    private struct Desk {
        var queue: LookupQueue
        var running: [LookupQueue.Query] = []
        var told: [String: [LookupQueue.Answer]] = [:]

        init(_ limits: LookupQueue.Limits = LookupQueue.Limits()) {
            queue = LookupQueue(limits: limits)
        }

        var names: [String] { running.map(\.name) }

        mutating func ask(_ names: String..., at now: Duration = .zero) {
            for name in names { perform(queue.ask(.init(name: name) { _ in }, at: now)) }
        }

        mutating func finish(_ name: String, at now: Duration = .zero) {
            guard let index = running.firstIndex(where: { $0.name == name }) else { return }
            perform(queue.finish(running.remove(at: index), with: .success([]), at: now))
        }

        mutating func cannotStart(_ name: String) {
            guard let index = running.firstIndex(where: { $0.name == name }) else { return }
            perform(queue.cannotStart(running.remove(at: index), because: .tryAgain))
        }

        mutating func advance(to now: Duration) { perform(queue.advance(to: now)) }

        private mutating func perform(_ actions: [LookupQueue.Action]) {
            for action in actions {
                switch action {
                case .start(let query): running.append(query)
                case .complete(let lookup, let answer): told[lookup.name, default: []].append(answer)
                }
            }
        }
    }

    private func failure(_ text: String) -> [LookupQueue.Answer] { [.failure(.unavailable(text))] }

    @Test func `four queries run at once, the others follow in sequence`() {
        var desk = Desk()
        desk.ask("a", "b", "c", "d", "e", "f")
        #expect(desk.names == ["a", "b", "c", "d"])
        desk.finish("c")
        desk.finish("a")
        #expect(desk.names == ["b", "d", "e", "f"])
        for name in desk.names { desk.finish(name) }
        #expect(desk.told.count == 6 && desk.told.values.allSatisfy { $0 == [.success([])] })
        #expect(desk.queue.nextAdvance(after: .zero) == nil)
    }

    @Test func `a waiting query starts when others have run for 2 s`() {
        var desk = Desk()
        desk.ask("a", "b", "c", "d")
        #expect(desk.queue.nextAdvance(after: .zero) == .seconds(30))
        desk.ask("fresh", at: .seconds(1))
        #expect(desk.queue.nextAdvance(after: .seconds(1)) == .seconds(2))
        desk.advance(to: .milliseconds(1999))
        #expect(!desk.names.contains("fresh"))
        desk.advance(to: .seconds(2))
        #expect(desk.names.last == "fresh")
        #expect(desk.queue.nextAdvance(after: .seconds(2)) == .seconds(30))
        desk.ask("later", at: .seconds(5))
        #expect(desk.names.last == "later")
    }

    @Test func `a query fails after 30 s, and its late answer is ignored`() {
        var desk = Desk()
        desk.ask("dead.example", "good.example")
        desk.finish("good.example", at: .seconds(29))
        desk.advance(to: .seconds(30))
        let given = failure("the name service has not answered dead.example within 30 s")
        #expect(desk.told == ["dead.example": given, "good.example": [.success([])]])
        #expect(desk.queue.nextAdvance(after: .seconds(30)) == nil)
        desk.finish("dead.example", at: .seconds(40))
        #expect(desk.told["dead.example"] == given)
    }

    @Test func `at most 20 threads exist, and with 16 blocked threads new queries fail`() {
        var desk = Desk()
        for second in 0..<40 { desk.ask("dead\(second)", at: .seconds(second)) }
        // At 30 s the first four queries fail. Their callers are called, but their threads still count.
        for second in 0..<30 { desk.advance(to: .seconds(second)) }
        #expect(desk.running.count == 20)
        desk.advance(to: .seconds(90))
        #expect(desk.running.count == 20)
        #expect(desk.told.count == 40 && desk.told.values.allSatisfy { $0.count == 1 })
        let refusal = "too many queries to the name service have not returned; fresh is not resolved"
        desk.ask("fresh", at: .seconds(91))
        #expect(desk.told["fresh"] == failure(refusal))
        // Fewer than 16 threads are blocked again.
        for _ in 0..<5 { desk.finish(desk.names[0], at: .seconds(92)) }
        desk.ask("again", at: .seconds(93))
        #expect(desk.names.last == "again")
        desk.finish("again", at: .seconds(94))
        #expect(desk.told["again"] == [.success([])])
        #expect(desk.told.values.allSatisfy { $0.count == 1 })
    }

    @Test func `a name that is never answered blocks at most two threads`() {
        var desk = Desk()
        var now = Duration.zero
        for _ in 0..<100 {
            desk.ask("dead.example", at: now)
            now += .seconds(60)
            desk.advance(to: now)
        }
        #expect(desk.names == ["dead.example", "dead.example"])
        #expect(desk.told["dead.example"]?.count == 100)
        let refusal = failure("earlier queries to the name service for dead.example have not returned")
        #expect(desk.told["dead.example"]?.suffix(98).allSatisfy { [$0] == refusal } == true)
        desk.ask("good.example", at: now)
        #expect(desk.names.last == "good.example")
        desk.finish("dead.example", at: now)
        desk.ask("dead.example", at: now)
        #expect(desk.names.count == 3)
    }

    @Test func `without a new thread, a query waits for a running one or fails`() {
        var desk = Desk()
        desk.ask("a", "b")
        desk.cannotStart("b")
        #expect(desk.told.isEmpty)
        desk.finish("a")
        #expect(desk.names == ["b"])
        desk.ask("c", "d", "e", "f", "g")
        for name in ["b", "c", "d"] { desk.cannotStart(name) }
        #expect(desk.told.keys.sorted() == ["a"])
        desk.cannotStart("e")
        #expect(desk.names.isEmpty && desk.queue.nextAdvance(after: .zero) == nil)
        for name in ["b", "c", "d", "e", "f", "g"] {
            let cause = "cannot start a thread to resolve \(name): Resource temporarily unavailable"
            #expect(desk.told[name] == failure(cause))
        }
    }

    @Test func `a query that waits for an abandoned one then starts, or fails without a thread`() {
        var desk = Desk()
        desk.ask("dead", "b")
        desk.cannotStart("b")
        desk.advance(to: .seconds(30))
        #expect(desk.names == ["dead", "b"] && desk.told.keys.sorted() == ["dead"])
        desk.cannotStart("b")
        #expect(desk.told["b"]?.count == 1)
    }
}
