import Dispatch
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// When a listener is called, and where.
@Suite struct ListenerTests {
    @Test(arguments: WorldKind.allCases)
    func theFirstCallTellsTheStateOfNow(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            let (before, after) = (Listener(), Listener())
            let manager = try world.manager()
            manager.startListening(onQueue: before.queue, onUpdatePerforming: before.record)
            checks.expect(in: world, before.values, becomes: [.notReachable])
            manager.stopListening()
            try world.apply(Change.ipv4Uplink)
            manager.startListening(onQueue: after.queue, onUpdatePerforming: after.record)
            checks.expect(in: world, after.values, becomes: [.wired])
            checks.expect(before.values, is: [.notReachable])
        }
    }

    @Test(arguments: WorldKind.allCases)
    func everyChangeIsToldOnceAndInOrder(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
            let listener = Listener()
            let manager = try world.manager()
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            var expected = [NetworkReachabilityStatus.wired]
            checks.expect(in: world, listener.values, becomes: expected)
            for _ in 0..<10 {
                try world.apply(.lose)
                expected.append(.notReachable)
                checks.expect(in: world, listener.values, becomes: expected)
                try world.apply(.regain)
                expected.append(.wired)
                checks.expect(in: world, listener.values, becomes: expected)
            }
            checks.expect(listener.misplaced.count, is: 0)
        }
    }

    @Test(arguments: WorldKind.allCases)
    func whatDoesNotChangeTheFlagsIsNotTold(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink + Change.cable("c1", 2))
            let listener = Listener()
            let manager = try world.manager()
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            checks.expect(in: world, listener.values, becomes: [.wired])
            try world.apply(
                .replaceRoute(RouteChange("0.0.0.0/0", via: "10.2.0.1")),
                .rename("c0", to: "c9"),
                .down("c9"),
                .route(RouteChange("198.51.100.0/24", .blackhole))
            )
            try world.apply(.removeRoute(RouteChange("0.0.0.0/0", via: "10.2.0.1")))
            checks.expect(in: world, listener.values, becomes: [.wired, .notReachable])
        }
    }

    /// Alamofire 5's closure is told of the status, Alamofire 4's property of the flags.
    @Test(arguments: WorldKind.allCases)
    func flagsWithoutTheStatusAreToldToThePropertyAlone(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (closure, property) = (Listener(), Listener())
            let (five, four) = (try world.manager(), try world.manager())
            five.startListening(onQueue: closure.queue, onUpdatePerforming: closure.record)
            (four.listener, four.listenerQueue) = (property.record, property.queue)
            four.startListening()
            checks.expect(in: world, closure.values, becomes: [.wired])
            checks.expect(in: world, property.values, becomes: [.wired])
            let onLink = RouteChange("0.0.0.0/0", on: "c0")
            try world.apply(.replaceRoute(onLink))
            checks.expect(in: world, property.values, becomes: [.wired, .wired])
            checks.expect(five.flags, is: [.reachable, .isDirect])
            try world.apply(.removeRoute(onLink))
            checks.expect(in: world, property.values, becomes: [.wired, .wired, .notReachable])
            checks.expect(in: world, closure.values, becomes: [.wired, .notReachable])
        }
    }

    @Test(arguments: WorldKind.allCases)
    func nothingIsHeardAfterTheEndOnItsOwnQueue(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (listener, witness) = (Listener(), Listener())
            let (manager, other) = (try world.manager(), try world.manager())
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            other.startListening(onQueue: witness.queue, onUpdatePerforming: witness.record)
            checks.expect(in: world, listener.values, becomes: [.wired])
            checks.expect(in: world, witness.values, becomes: [.wired])
            // The news is on its way when the end comes.
            try listener.queue.sync {
                try world.apply(.lose)
                checks.expect(in: world, witness.values, becomes: [.wired, .notReachable])
                manager.stopListening()
                manager.stopListening()
            }
            checks.expect(listener.values, is: [.wired])
            checks.expect(manager.isListening, is: false)
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            checks.expect(in: world, listener.values, becomes: [.wired, .notReachable])
            try world.apply(.regain)
            checks.expect(in: world, listener.values, becomes: [.wired, .notReachable, .wired])
            checks.expect(listener.misplaced.count, is: 0)
        }
    }

    @Test(arguments: WorldKind.allCases)
    func nothingIsHeardWhenTheManagerIsGone(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (listener, witness) = (Listener(), Listener())
            var manager: NetworkReachabilityManager? = try world.manager()
            let other = try world.manager()
            manager?.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            other.startListening(onQueue: witness.queue, onUpdatePerforming: witness.record)
            checks.expect(in: world, listener.values, becomes: [.wired])
            checks.expect(in: world, witness.values, becomes: [.wired])
            weak let released = manager
            manager = nil
            checks.expect(released == nil, "the manager lives on")
            try world.apply(.lose)
            checks.expect(in: world, witness.values, becomes: [.wired, .notReachable])
            checks.expect(listener.values, is: [.wired])
        }
    }

    @Test(arguments: WorldKind.allCases)
    func aListenerIsReplacedWhileItListens(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (first, second, third) = (Listener(), Listener(), Listener())
            let manager = try world.manager()
            manager.listener = first.record
            manager.listenerQueue = first.queue
            manager.startListening()
            checks.expect(in: world, first.values, becomes: [.wired])
            manager.listener = second.record
            manager.listenerQueue = second.queue
            try world.apply(.lose)
            checks.expect(in: world, second.values, becomes: [.notReachable])
            manager.startListening(onQueue: third.queue, onUpdatePerforming: third.record)
            checks.expect(in: world, third.values, becomes: [.notReachable])
            try world.apply(.regain)
            checks.expect(in: world, third.values, becomes: [.notReachable, .wired])
            checks.expect(first.values, is: [.wired])
            checks.expect(second.values, is: [.notReachable])
        }
    }
}
