import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// The asynchronous sequences of a manager.
@Suite struct UpdatesTests {
    @Test(arguments: WorldKind.allCases)
    func `sequences begin with the current state and contain exactly the changes`(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink + [.add("w0", .rawIP), .address("10.60.0.2/24", on: "w0")])
            let manager = try world.manager()
            let (statuses, flags, paths) = (
                Reader(manager.statuses), Reader(manager.flagChanges), Reader(manager.paths)
            )
            defer { for task in [statuses.task, flags.task, paths.task] { task.cancel() } }
            var lines = [PathCase.hostThroughFirst]
            func expectLines() {
                checks.expect(in: world, paths.read.values.map { PathLine($0).description }, becomes: lines)
            }
            expectLines()
            checks.expect(in: world, statuses.read.values, becomes: [.wired])
            checks.expect(in: world, flags.read.values, becomes: [.reachable])
            // The same status and flags, but another path.
            try world.apply(.rename("c0", to: "c9"))
            lines.append(PathCase.hostThroughFirst.replacing("c0", with: "c9"))
            expectLines()
            try world.apply(.lose)
            lines.append(PathCase.noRoute)
            expectLines()
            checks.expect(in: world, statuses.read.values, becomes: [.wired, .notReachable])
            checks.expect(in: world, flags.read.values, becomes: [.reachable, []])
            try world.apply(.route(RouteChange("0.0.0.0/0", on: "w0")))
            lines.append("WR ------d w0 from 10.60.0.2 table 254 mtu 1500 for 4")
            expectLines()
            checks.expect(in: world, statuses.read.values, becomes: [.wired, .notReachable, .reachable(.wwan)])
            checks.expect(in: world, flags.read.values, becomes: [.reachable, [], [.reachable, .isWWAN, .isDirect]])
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `sequences end with their task and continue without the manager`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            var manager: NetworkReachabilityManager? = try world.manager()
            let reader = Reader(try world.manager().statuses)
            let other = manager.map { Reader($0.statuses) }
            weak let released = manager
            manager = nil
            checks.expect(released == nil, "a sequence holds the manager")
            checks.expect(in: world, reader.read.values, becomes: [.wired])
            checks.expect(in: world, other?.read.values, becomes: [.wired])
            other?.task.cancel()
            checks.expect(in: world, other?.ended.count, becomes: 1)
            try world.apply(.lose)
            checks.expect(in: world, reader.read.values, becomes: [.wired, .notReachable])
            checks.expect(other?.read.values, is: [.wired])
            reader.task.cancel()
            checks.expect(in: world, reader.ended.count, becomes: 1)
        }
    }

    @Test func `each loop is a separate subscription`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let manager = try world.manager()
            let statuses = manager.statuses
            checks.expect(world.kernel.listenerCount, is: 0)
            let (first, second) = (Reader(statuses), Reader(statuses))
            checks.expect(in: world, first.read.values + second.read.values, becomes: [.wired, .wired])
            first.task.cancel()
            checks.expect(in: world, first.ended.count, becomes: 1)
            checks.expect(world.kernel.listenerCount, is: 1)
            try world.apply(.lose)
            checks.expect(in: world, second.read.values, becomes: [.wired, .notReachable])
            second.task.cancel()
            checks.expect(in: world, second.ended.count, becomes: 1)
            checks.expect(in: world, world.kernel.listenerCount, becomes: 0)
            checks.expect(world.clock.scheduledCount, is: 0)
            withExtendedLifetime(manager) {}
        }
    }

    /// The subscription begins with the iterator, so no change between two lines of the test is lost.
    @Test func `a slow reader receives only the latest status`() async throws {
        let world = FakeWorld()
        try world.apply(Change.ipv4Uplink)
        let manager = try world.manager()
        var iterator = manager.statuses.makeAsyncIterator()
        #expect(await iterator.next(isolation: nil) == .wired)
        for _ in 0..<5 {
            try world.apply(.lose)
            world.flush()
            try world.apply(.regain)
            world.flush()
        }
        try world.apply(.lose)
        world.flush()
        #expect(await iterator.next(isolation: nil) == .notReachable)
        // A return to the state that the reader knows is not a change.
        try world.apply(.regain)
        world.flush()
        try world.apply(.lose)
        world.flush()
        try world.apply(.regain)
        world.flush()
        #expect(await iterator.next(isolation: nil) == .wired)
    }

    @Test func `a slow reader does not receive an equal path twice in a row`() async throws {
        let (first, second) = try await Task {
            let world = FakeWorld()
            try world.apply(Change.ipv4Uplink)
            let manager = try world.manager()
            var iterator = manager.paths.makeAsyncIterator()
            let first = await iterator.next(isolation: nil)
            // The path is lost and returns before the next read, so only its generation differs.
            for change in [Change.lose, .regain] {
                try world.apply(change)
                world.flush()
            }
            // A cancelled task receives a pending element, and then the end.
            withUnsafeCurrentTask { $0?.cancel() }
            return (first, await iterator.next(isolation: nil))
        }.value
        #expect(first?.status == .wired)
        #expect(second == nil)
    }

    @Test func `leaving the loop ends the subscription`() async throws {
        let world = FakeWorld()
        try world.apply(Change.ipv4Uplink)
        let manager = try world.manager()
        for await status in manager.statuses {
            #expect(status == .wired)
            break
        }
        world.flush()
        #expect(world.kernel.listenerCount == 0)
    }
}

/// A task that reads a sequence and records its elements.
struct Reader<Element: Equatable & Sendable>: Sendable {
    let read = RecordingListener<Element>()
    let ended = RecordingListener<Void>()
    let task: Task<Void, Never>

    init(_ sequence: some AsyncSequence<Element, Never> & Sendable) {
        let (read, ended) = (read, ended)
        task = Task.detached {
            for await element in sequence { read.record(element) }
            ended.record(())
        }
    }
}
