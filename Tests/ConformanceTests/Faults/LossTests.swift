import NetworkReachability
import NetworkReachabilityTesting
import Testing

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
