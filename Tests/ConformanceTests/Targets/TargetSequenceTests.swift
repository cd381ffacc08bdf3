import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// The changes of many hosts as an asynchronous sequence.
@Suite struct TargetSequenceTests {
    @Test func eachLoopBeginsWithWhatIsSo() async throws {
        let world = FakeWorld()
        try world.apply(Change.ipv4Uplink)
        let targets = try world.targets(["192.0.2.1", "198.51.100.1"])
        for _ in 0..<2 {
            var iterator = targets.changes.makeAsyncIterator()
            var seen: [String: NetworkReachabilityStatus] = [:]
            for _ in 0..<2 {
                let change = try #require(await iterator.next(isolation: nil))
                seen[change.host] = change.status
            }
            #expect(seen == ["192.0.2.1": .wired, "198.51.100.1": .wired])
            try world.apply(.addRoute(RouteChange("192.0.2.0/24", .blackhole)))
            let change = try #require(await iterator.next(isolation: nil))
            #expect(change.host == "192.0.2.1" && change.status == .notReachable)
            try world.apply(.removeRoute(RouteChange("192.0.2.0/24", .blackhole)))
            #expect(await iterator.next(isolation: nil)?.status == .wired)
        }
    }

    @Test func aSlowReaderReadsTheLatest() async throws {
        let world = FakeWorld()
        try world.apply(Change.ipv4Uplink)
        let targets = try world.targets(["192.0.2.1", "198.51.100.1"])
        var iterator = targets.changes.makeAsyncIterator()
        for _ in 0..<2 { _ = await iterator.next(isolation: nil) }
        for _ in 0..<50 {
            try world.apply(.lose)
            world.flush()
            try world.apply(.regain)
            world.flush()
        }
        try world.apply(.addRoute(RouteChange("192.0.2.0/24", .blackhole)))
        world.flush()
        // The other one is where the reader left it.
        let change = try #require(await iterator.next(isolation: nil))
        #expect(change.host == "192.0.2.1" && change.status == .notReachable)
        try world.apply(.lose)
        #expect(await iterator.next(isolation: nil)?.host == "198.51.100.1")
    }

    @Test func theEndOfTheTaskIsTheEndOfTheListener() async throws {
        let world = FakeWorld()
        try world.apply(Change.ipv4Uplink)
        let targets = try world.targets(["192.0.2.1"])
        let recorder = ChangeRecorder()
        let reader = Task { for await change in targets.changes { recorder.record(change) } }
        #expect(await recorder.heard.waitForCount(1, timeout: .seconds(90)))
        #expect(world.kernel.listenerCount == 1)
        reader.cancel()
        await reader.value
        world.flush()
        #expect(world.kernel.listenerCount == 0)
    }

    @Test func aLoopThatIsLeftEndsItsListener() async throws {
        let world = FakeWorld()
        try world.apply(Change.ipv4Uplink)
        let targets = try world.targets(["192.0.2.1"])
        for await _ in targets.changes { break }
        world.flush()
        #expect(world.kernel.listenerCount == 0)
    }
}
