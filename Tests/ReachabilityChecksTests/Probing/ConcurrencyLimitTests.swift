import LinuxSupport
import Testing

@testable import ReachabilityChecks

/// The limit of concurrent connections to web servers.
@Suite struct ConcurrencyLimitTests {
    @Test func `no more work runs concurrently than permitted`() async {
        let turns = ConcurrencyLimit(count: 3)
        let counts = Locked((now: 0, most: 0))
        let done = await withTaskGroup(of: Int.self) { group in
            for number in 0..<40 {
                group.addTask {
                    await turns.during {
                        counts.withLock { counts in
                            counts.now += 1
                            counts.most = max(counts.most, counts.now)
                        }
                        try? await Task.sleep(for: .milliseconds(5))
                        counts.withLock { $0.now -= 1 }
                        return number
                    } ?? -1
                }
            }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(done == Set(0..<40))
        #expect(counts.withLock { $0.most } == 3 && !turns.isInUse)
    }

    @Test func `cancelled work leaves the queue`() async {
        let turns = ConcurrencyLimit(count: 1)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let first = Task { await turns.during { for await _ in ends {} } }
        while !turns.isInUse { await Task.yield() }
        let second = Task { await turns.during { 2 } }
        second.cancel()
        #expect(await second.value == nil)
        end.finish()
        #expect(await first.value != nil && !turns.isInUse)
        #expect(await turns.during { 3 } == 3)
    }
}
