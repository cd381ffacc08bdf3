import LinuxSupport
import Netlink
import Testing

@testable import NetworkReachability

/// Lookups that block, on real threads. Names that begin with `dead` are never answered before the test is over.
@Suite("Threads for the name service")
struct LookupThreadsTests {
    private typealias Answer = LookupQueue.Answer

    /// A C library with a name service that swallows some questions, and a system that may have no more threads.
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

        /// Lets every lookup return, and waits until their threads have nothing left to do.
        func finish() async {
            end.open()
            while alive.withLock({ $0 }) > 0 { await Task.yield() }
        }
    }

    /// Short times: nothing here waits for longer than they are.
    private var short: LookupQueue.Limits {
        var limits = LookupQueue.Limits()
        limits.patience = .milliseconds(5)
        limits.deadline = .milliseconds(50)
        return limits
    }

    @Test("A question that never returns is answered at the deadline, and only once")
    func deadline() async {
        let service = Service()
        let threads = service.threads(short)
        let answer = await service.ask(threads, "dead")
        #expect(answer == .failure(.unavailable("the name service has not answered dead within 0 s")))
        await service.finish()
        #expect(service.answers.withLock { $0["dead"]?.count } == 1)
    }

    @Test("Fresh names are answered while all that were asked before hang")
    func freshNames() async {
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

    @Test("However many names are never answered, the threads are bounded, and everybody is told once")
    func bound() async {
        let service = Service()
        let threads = service.threads(short)
        await withTaskGroup { group in
            for number in 0..<100 { group.addTask { _ = await service.ask(threads, "dead\(number)") } }
        }
        #expect(service.wereAlive.withLock { $0 } <= 20)
        let refusal = await service.ask(threads, "fresh")
        let text = "too many questions to the name service have not returned, so it is not asked for fresh"
        #expect(refusal == .failure(.unavailable(text)))
        await service.finish()
        #expect(await service.ask(threads, "later") == .success([]))
        let counts = service.answers.withLock { $0.mapValues(\.count) }
        #expect(counts.count == 102 && counts.values.allSatisfy { $0 == 1 })
    }

    @Test("Where no thread can be made, everybody is told once", arguments: [0, 1, 2, 4])
    func noThread(limit: Int) async {
        let service = Service(threadLimit: limit)
        let threads = service.threads()
        await withTaskGroup { group in
            for number in 0..<100 {
                group.addTask {
                    let answer = await service.ask(threads, "name\(number)")
                    let cause = "cannot start a thread to resolve name\(number): Resource temporarily unavailable"
                    // The thread of the question before may not have ended yet.
                    #expect(answer == .failure(.unavailable(cause)) || limit > 0 && answer == .success([]))
                }
            }
        }
        await service.finish()
        let counts = service.answers.withLock { $0.mapValues(\.count) }
        #expect(counts.count == 100 && counts.values.allSatisfy { $0 == 1 })
    }
}
