import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Lost messages, and messages that arrive before their state is visible.
@Suite struct OverrunTests {
    @Test func `an overrun starts an evaluation`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (manager, listener) = try world.listeningManager()
            world.settle()
            try world.kernel.overrun { try world.apply(.lose) }
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            try world.kernel.overrun { try world.apply(.regain) }
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable, .wired])
            checks.expect(manager.statistics.overruns, is: 2)
        }
    }

    @Test func `an overrun at the start of listening loses no change`() async throws {
        try await WorldKind.playFake { world, checks in
            for _ in 0..<20 {
                let world = FakeWorld()
                try world.apply(Change.ipv4Uplink)
                let (manager, listener) = try world.listeningManager()
                // A random moment between the first evaluation and the first call.
                try world.kernel.overrun { try world.apply(.lose) }
                world.flush()
                checks.expect(listener.values.last, is: .notReachable)
                checks.expect(Set(listener.values).count, is: listener.values.count)
                withExtendedLifetime(manager) {}
            }
        }
    }

    @Test func `an overrun during a change of targets loses no change`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let listener = Listener()
            var manager = try world.manager()
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            world.flush()
            for round in 0..<10 {
                let isLoss = round % 2 == 0
                let next = try world.manager(of: "203.0.113.\(round)")
                next.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
                try world.kernel.overrun { try world.apply(isLoss ? .lose : .regain) }
                manager = next
                world.flush()
                checks.expect(listener.values.last, is: isLoss ? .notReachable : .wired)
                checks.expect(manager.isReachable, is: !isLoss)
            }
        }
    }

    @Test func `a real overrun loses no change`() async throws {
        try await WorldKind.real.play(Change.ipv4Uplink) { world, checks in
            let (manager, listener) = try world.listeningManager()
            checks.expect(in: world, listener.values, becomes: [.wired])
            // A listener without a queue blocks the monitor's queue, so that the socket buffer overflows.
            let gate = RecordingListener<Void>()
            let (entered, token) = (RecordingListener<Void>(), RecordingListener<NetworkReachabilityToken>())
            token.record(
                manager.addPathListener(onQueue: nil) { _ in
                    entered.record(())
                    gate.waitForCount(1)
                }
            )
            checks.expect(entered.waitForCount(1), "there is no listener")
            let routes = (1...4000).map { RouteChange("0.0.0.0/0", metric: $0, table: 77, .blackhole) }
            let storm = routes.map { Change.addRoute($0) } + routes.map { .removeRoute($0) }
            try world.batch(storm)
            try world.apply(.lose)
            gate.record(())
            checks.expect(in: world, listener.values.last, becomes: .notReachable)
            checks.expect(listener.values, is: [.wired, .notReachable])
            checks.expect(in: world, manager.statistics.overruns > 0, becomes: true)
        }
    }

    @Test func `a change is reported at once although its state is visible late`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            world.kernel.delayState()
            let (manager, listener) = try world.listeningManager()
            world.flush()
            var expected = [NetworkReachabilityStatus.wired]
            for change in [Change.lose, .regain, .down("c0"), .up("c0"), .regain, .unplug("c0"), .plug("c0")] {
                try world.apply(change)
                // The change is reported at once, because the link query is a barrier. The clock does not advance
                // here.
                world.flush()
                let status = manager.status
                if expected.last != status { expected.append(status) }
                checks.expect(listener.values, is: expected)
            }
            checks.expect(expected.count, is: 7)
        }
    }

    @Test func `the trailing evaluation finds a change without a notification`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink + [.add("c1")]) { world, checks in
            let (manager, listener) = try world.listeningManager()
            world.settle()
            world.kernel.touchLink("c1")
            world.flush()
            // The carrier is lost. Its message arrives a second later.
            world.kernel.setCarrier("c0", false, notifiedAfter: .seconds(1))
            world.flush()
            checks.expect(listener.values, is: [.wired])
            world.clock.advance(by: .milliseconds(199))
            world.flush()
            checks.expect(listener.values, is: [.wired])
            world.clock.advance(by: .milliseconds(1))
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            withExtendedLifetime(manager) {}
        }
    }

    @Test func `messages of other processes are ignored`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (manager, listener) = try world.listeningManager()
            world.settle()
            let messages = manager.statistics.messages
            for _ in 0..<10 { world.kernel.sendForeignMessage() }
            world.settle()
            checks.expect(listener.values, is: [.wired])
            checks.expect(manager.statistics.messages, is: messages)
            try world.apply(.lose)
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
        }
    }
}

/// A loss is reported at once, regardless of its duration.
@Suite struct LossTests {
    /// The lookups that could replace IPv4 are in the same round.
    @Test(arguments: [Change.lose, .down("c0"), .unplug("c0")])
    func `a loss is reported at once, after one round of lookups`(loss: Change) async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (manager, listener) = try world.listeningManager()
            world.flush()
            let before = world.kernel.lookupRoundCount
            try world.apply(loss)
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            checks.expect(world.kernel.lookupRoundCount, is: before + 1)
            withExtendedLifetime(manager) {}
        }
    }

    /// A route that is removed and added again was missing for a moment. Listeners with a settle policy do not
    /// receive this.
    @Test func `a route that is removed and added again is a loss`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink + Change.cable("c1", 2)) { world, checks in
            let (manager, listener) = try world.listeningManager()
            let settled = Listener()
            let token = manager.addListener(
                settle: .settled(for: .seconds(1)),
                onQueue: settled.queue,
                settled.record
            )
            world.flush()
            let other = Change.addRoute(RouteChange("0.0.0.0/0", via: "10.2.0.1"))
            // An unrelated change in between.
            try world.batch([.lose, .addRoute(RouteChange("198.51.100.0/24", .blackhole)), other])
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable, .wired])
            world.pass(.seconds(5))
            checks.expect(settled.values, is: [.wired])
            token.cancel()
        }
    }

    /// A route that is replaced in one step was never missing.
    @Test func `a route that is replaced in one step is not a loss`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink + Change.cable("c1", 2)) { world, checks in
            let (manager, listener) = try world.listeningManager()
            world.flush()
            try world.apply(.replaceRoute(RouteChange("0.0.0.0/0", via: "10.2.0.1")))
            world.flush()
            checks.expect(listener.values, is: [.wired])
            withExtendedLifetime(manager) {}
        }
    }

    /// The message of a replacement may be lost.
    @Test func `an overrun during a batch leaves the correct state`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (manager, listener) = try world.listeningManager()
            world.flush()
            try world.kernel.batch {
                try world.apply(.lose)
                world.kernel.overrun {}
            }
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            withExtendedLifetime(manager) {}
        }
    }

    @Test func `the intermediate state of a batch is not observed`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (listener, late) = (Listener(), Listener())
            let manager = try world.manager()
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            world.flush()
            let newcomer = try world.manager(of: "203.0.113.1")
            let separate = try NetworkReachabilityManager(kernel: world.kernel)
            try world.kernel.batch {
                try world.apply(.lose)
                world.flush()
                // The intermediate state is hidden from queries, new listeners and new connections.
                checks.expect(manager.status, is: .wired)
                newcomer.startListening(onQueue: late.queue, onUpdatePerforming: late.record)
                world.settle()
                checks.expect(late.values, is: [.wired])
                checks.expect(separate.status, is: .wired)
                checks.expect(try NetworkReachabilityManager(kernel: world.kernel).status, is: .wired)
                try world.apply(.regain)
                world.settle()
                checks.expect(manager.status, is: .wired)
            }
            world.settle()
            checks.expect(listener.values.last, is: .wired)
            checks.expect(late.values.last, is: .wired)
        }
    }
}

/// A listening socket that fails permanently. The failure is reported, and another socket replaces it.
@Suite struct UnreadableTests {
    @Test func `the status is unknown until another socket replaces a failed one`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (manager, listener) = try world.listeningManager()
            world.flush()
            world.kernel.failListening()
            world.flush()
            checks.expect(listener.values, is: [.wired, .unknown])
            checks.expect(world.kernel.listenerCount, is: 0)
            world.pass(.milliseconds(100))
            checks.expect(listener.values, is: [.wired, .unknown, .wired])
            checks.expect(world.kernel.listenerCount, is: 1)
            // Repeated failures increase the delay.
            world.kernel.failListening()
            world.flush()
            world.pass(.milliseconds(100))
            checks.expect(world.kernel.listenerCount, is: 0)
            world.pass(.milliseconds(100))
            checks.expect(world.kernel.listenerCount, is: 1)
            // Changes are reported again.
            try world.apply(.lose)
            world.flush()
            checks.expect(listener.values, is: [.wired, .unknown, .wired, .unknown, .wired, .notReachable])
            withExtendedLifetime(manager) {}
        }
    }
}
