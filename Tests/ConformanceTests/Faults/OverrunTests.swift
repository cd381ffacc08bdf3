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
