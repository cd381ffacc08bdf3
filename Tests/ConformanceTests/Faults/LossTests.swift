import Netlink
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// How long a loss is held back for what may take the place of what was removed.
@Suite struct LossTests {
    private static let longest = Duration.milliseconds(20)

    @Test(arguments: [ProcessActivity.atRest, .atWork, .unknown])
    func aLossIsTold(activity: ProcessActivity) async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            world.kernel.setActivity(activity)
            let listener = Listener()
            let manager = try world.manager()
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            world.flush()
            checks.expect(world.kernel.waited, is: .zero)
            try world.apply(.lose)
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            let waited = world.kernel.waited
            switch activity {
            case .atRest: checks.expect(waited, is: .zero)
            case .unknown: checks.expect(waited, is: .microseconds(400))
            case .atWork: checks.expect(waited > .zero && waited <= LossTests.longest, "waited \(waited)")
            }
            // What gives more is told at once, and so is a link that goes down.
            try world.apply(.regain)
            world.flush()
            try world.apply(.down("c0"))
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable, .wired, .notReachable])
            checks.expect(world.kernel.waited, is: waited)
        }
    }

    /// What may decide instead of IPv4 is asked about at once, and so are the other legs of routes over a dead link.
    @Test(arguments: zip([Change.lose, .down("c0"), .unplug("c0")], [1, 1, 2]))
    func aLossTakesFewRounds(loss: Change, rounds: Int) async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            world.kernel.setActivity(.atRest)
            let (manager, listener) = try world.listeningManager()
            world.flush()
            let before = world.kernel.lookupRoundCount
            try world.apply(loss)
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            checks.expect(world.kernel.lookupRoundCount, is: before + rounds)
            withExtendedLifetime(manager) {}
        }
    }

    /// Where the source may have gone with the route, the way from it is not asked for together with the way itself.
    @Test func nothingIsAskedFromASourceThatMayHaveGone() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            world.kernel.setActivity(.atRest)
            let (manager, listener) = try world.listeningManager()
            world.flush()
            let before = world.kernel.lookupCount
            try world.apply(.lose)
            world.flush()
            // As many addresses of each family as decide.
            checks.expect(world.kernel.lookupCount, is: before + 5 + 3)
            let lost = world.kernel.lookupCount
            try world.apply(.regain)
            world.flush()
            // The way, and the way from the source that was known.
            checks.expect(world.kernel.lookupCount, is: lost + 5 * 2)
            checks.expect(listener.values, is: [.wired, .notReachable, .wired])
            withExtendedLifetime(manager) {}
        }
    }

    @Test(arguments: [ProcessActivity.atRest, .atWork, .unknown])
    func whatIsReplacedIsNotLost(activity: ProcessActivity) async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink + Change.cable("c1", 2))
            world.kernel.setActivity(activity)
            let listener = Listener()
            let paths = RecordingListener<NetworkPath>()
            let manager = try world.manager()
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            let token = manager.addPathListener(onQueue: nil, paths.record)
            world.flush()
            let other = Change.addRoute(RouteChange("0.0.0.0/0", via: "10.2.0.1"))
            // Others change things in between that lead nowhere.
            try world.batch([.lose, .addRoute(RouteChange("198.51.100.0/24", .blackhole)), other])
            world.flush()
            checks.expect(listener.values, is: [.wired])
            checks.expect(paths.values.map { $0.interface?.name }, is: ["c0", "c1"])
            checks.expect(world.kernel.waited <= LossTests.longest, "waited \(world.kernel.waited)")
            token.cancel()
        }
    }

    /// The replacement may be among what was lost.
    @Test func anOverrunEndsTheWait() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            world.kernel.setActivity(.atWork)
            let (manager, listener) = try world.listeningManager()
            world.flush()
            try world.kernel.batch {
                try world.apply(.lose)
                world.kernel.overrun {}
            }
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            checks.expect(world.kernel.waited, is: .zero)
            withExtendedLifetime(manager) {}
        }
    }

    /// However long a process goes on removing and putting back, the end of it is told.
    @Test func aProcessThatNeverRestsIsNotWaitedForForEver() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            world.kernel.setActivity(.atWork)
            let listener = Listener()
            let manager = try world.manager()
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            world.flush()
            let noise = (0..<300).map { Change.addRoute(RouteChange("198.51.\($0 / 250).\($0 % 250)/32", .blackhole)) }
            try world.batch([.lose] + noise)
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            checks.expect(world.kernel.waited <= LossTests.longest, "waited \(world.kernel.waited)")
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
            checks.expect(listener.values, is: [.wired])
            checks.expect(late.values, is: [.wired])
        }
    }
}
