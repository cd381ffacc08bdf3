import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Lost messages, and messages that come before what they tell of.
@Suite struct OverrunTests {
    @Test func aLossOfMessagesIsOneMoreRing() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
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

    @Test func aLossWhileListeningBegins() async throws {
        try await WorldKind.playFake { world, checks in
            for _ in 0..<20 {
                let world = FakeWorld()
                try world.apply(Change.ipv4Uplink)
                let listener = Listener()
                let manager = try world.manager()
                manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
                // Somewhere between the first look and the first call.
                try world.kernel.overrun { try world.apply(.lose) }
                world.flush()
                checks.expect(listener.values.last, is: .notReachable)
                checks.expect(Set(listener.values).count, is: listener.values.count)
            }
        }
    }

    @Test func aLossWhileTheTargetsChange() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
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

    @Test func aRealOverrun() async throws {
        try await WorldKind.real.play { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (manager, listener) = try world.listeningManager()
            checks.expect(in: world, listener.values, becomes: [.wired])
            // Held up, so that the buffer runs over: the monitor's queue waits for a listener without a queue.
            let gate = RecordingListener<Void>()
            let (entered, token) = (RecordingListener<Void>(), RecordingListener<NetworkReachabilityToken>())
            token.record(
                manager.addPathListener(onQueue: nil) { _ in
                    entered.record(())
                    gate.waitForCount(1)
                }
            )
            checks.expect(entered.waitForCount(1), "nobody listens")
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

    @Test func aNotificationBeforeItsState() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            world.kernel.delayState()
            let (manager, listener) = try world.listeningManager()
            world.flush()
            var expected = [NetworkReachabilityStatus.wired]
            for change in [Change.lose, .regain, .down("c0"), .up("c0"), .regain, .unplug("c0"), .plug("c0")] {
                try world.apply(change)
                // At once, for the question about a link is a barrier; no time goes by here.
                world.flush()
                let status = manager.status
                if expected.last != status { expected.append(status) }
                checks.expect(listener.values, is: expected)
            }
            checks.expect(expected.count, is: 7)
        }
    }

    @Test func theTrailingLookFindsWhatNothingAnnounced() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink + [.add("c1")])
            let listener = Listener()
            let manager = try world.manager()
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            world.settle()
            world.kernel.touchLink("c1")
            world.flush()
            // The carrier is gone, and the message of it is a second late.
            world.kernel.setCarrier("c0", false, notifiedAfter: .seconds(1))
            world.flush()
            checks.expect(listener.values, is: [.wired])
            world.clock.advance(by: .milliseconds(199))
            world.flush()
            checks.expect(listener.values, is: [.wired])
            world.clock.advance(by: .milliseconds(1))
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
        }
    }

    @Test func foreignMessagesAreIgnored() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
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

/// A loss is told when it is so, at once, however soon it is over.
@Suite struct LossTests {
    @Test(arguments: [Change.lose, .down("c0"), .unplug("c0")])
    func aLossIsToldAtOnce(loss: Change) async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (manager, listener) = try world.listeningManager()
            world.flush()
            try world.apply(loss)
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            withExtendedLifetime(manager) {}
        }
    }

    /// What may decide instead of IPv4 is asked about at once.
    @Test(arguments: [Change.lose, .down("c0"), .unplug("c0")])
    func aLossTakesOneRound(loss: Change) async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
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

    /// A route that is removed and added again was away in between; who does not want to hear of that waits for it to settle.
    @Test func whatIsReplacedInTwoStepsWasLostInBetween() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink + Change.cable("c1", 2))
            let (manager, listener) = try world.listeningManager()
            let settled = Listener()
            let token = manager.addListener(
                settle: .settled(for: .seconds(1)),
                onQueue: settled.queue,
                settled.record
            )
            world.flush()
            let other = Change.addRoute(RouteChange("0.0.0.0/0", via: "10.2.0.1"))
            // Others change things in between that lead nowhere.
            try world.batch([.lose, .addRoute(RouteChange("198.51.100.0/24", .blackhole)), other])
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable, .wired])
            world.pass(.seconds(5))
            checks.expect(settled.values, is: [.wired])
            token.cancel()
        }
    }

    /// A route that is replaced in one step never was away.
    @Test func whatIsReplacedInOneStepIsNotLost() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink + Change.cable("c1", 2))
            let (manager, listener) = try world.listeningManager()
            world.flush()
            try world.apply(.replaceRoute(RouteChange("0.0.0.0/0", via: "10.2.0.1")))
            world.flush()
            checks.expect(listener.values, is: [.wired])
            withExtendedLifetime(manager) {}
        }
    }

    /// The replacement may be among what was lost.
    @Test func anOverrunInBetweenLeavesTheTruth() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
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

    @Test func nobodySeesTheMiddleOfABatch() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (listener, late) = (Listener(), Listener())
            let manager = try world.manager()
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            world.flush()
            let newcomer = try world.manager(of: "203.0.113.1")
            let separate = try NetworkReachabilityManager(kernel: world.kernel)
            try world.kernel.batch {
                try world.apply(.lose)
                world.flush()
                // Neither who asks, nor who begins to listen, nor a connection that is opened now.
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

/// The socket that listens fails for good: that is told, and another takes its place.
@Suite struct UnreadableTests {
    @Test func whatCannotBeReadIsUnknownUntilAnotherSocketListens() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (manager, listener) = try world.listeningManager()
            world.flush()
            world.kernel.failListening()
            world.flush()
            checks.expect(listener.values, is: [.wired, .unknown])
            checks.expect(world.kernel.listenerCount, is: 0)
            world.pass(.milliseconds(100))
            checks.expect(listener.values, is: [.wired, .unknown, .wired])
            checks.expect(world.kernel.listenerCount, is: 1)
            // Where it fails again and again, it is tried less and less often.
            world.kernel.failListening()
            world.flush()
            world.pass(.milliseconds(100))
            checks.expect(world.kernel.listenerCount, is: 0)
            world.pass(.milliseconds(100))
            checks.expect(world.kernel.listenerCount, is: 1)
            // And changes are received of again.
            try world.apply(.lose)
            world.flush()
            checks.expect(listener.values, is: [.wired, .unknown, .wired, .unknown, .wired, .notReachable])
            withExtendedLifetime(manager) {}
        }
    }
}
