import KernelLab
import Logging
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Netlink that does not work, or not yet, or not any more.
@Suite struct DenialTests {
    @Test(arguments: FakeKernel.Fault.allCases)
    func deniedAtTheStartAndTriedAgain(fault: FakeKernel.Fault) async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            world.kernel.denyNetlink(fault)
            let listener = Listener()
            let manager = try world.manager()
            checks.expect(manager.status, is: .unknown)
            checks.expect(manager.flags == nil, "flags of nothing")
            checks.expect(manager.path.reason, is: .netlinkUnavailable)
            let isServed = manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            checks.expect(isServed, is: true)
            world.flush()
            checks.expect(listener.values, is: [.unknown])
            // 0.1, 0.2, 0.4 ... 30 s.
            for delay in [100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000] {
                checks.expect(world.clock.timeToNextAction, is: .milliseconds(delay))
                world.clock.advance(by: .milliseconds(delay))
                world.flush()
            }
            checks.expect(listener.values, is: [.unknown])
            world.kernel.denyNetlink(nil)
            world.clock.advance(by: .seconds(30))
            world.flush()
            checks.expect(listener.values, is: [.unknown, .wired])
            try world.apply(.lose)
            world.flush()
            checks.expect(listener.values, is: [.unknown, .wired, .notReachable])
        }
    }

    @Test func theWaitBeginsAnewAfterSuccess() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            world.kernel.denyNetlink()
            let listener = Listener()
            let manager = try world.manager()
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            world.flush()
            world.clock.advance(by: .seconds(5))
            world.kernel.denyNetlink(nil)
            world.clock.advance(by: .seconds(10))
            world.flush()
            checks.expect(listener.values, is: [.unknown, .wired])
            world.kernel.failQuestions()
            try world.apply(.lose)
            world.flush()
            checks.expect(listener.values, is: [.unknown, .wired, .unknown])
            checks.expect(world.clock.timeToNextAction, is: .milliseconds(100))
        }
    }

    @Test(arguments: FakeKernel.Fault.allCases)
    func questionsFailForAWhile(fault: FakeKernel.Fault) async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (manager, listener) = try world.listeningManager()
            world.settle()
            world.kernel.failQuestions(fault)
            checks.expect(manager.status, is: .unknown)
            world.kernel.touchLink("c0")
            world.settle()
            checks.expect(listener.values.first, is: .wired)
            try world.apply(.lose)
            world.kernel.failQuestions(nil)
            checks.expect(manager.status, is: .notReachable)
            world.clock.advance(by: .seconds(30))
            world.flush()
            checks.expect(listener.values.last, is: .notReachable)
            checks.expect(world.kernel.listenerCount, is: 1)
            checks.expect(world.kernel.connectionCount, is: 1)
            try world.apply(.regain)
            world.flush()
            checks.expect(listener.values.last, is: .wired)
        }
    }

    /// The caller's own question finds out that the connection is broken, and nothing else happens afterwards.
    @Test func listenersRecoverAfterAFailedQuestionOfSomebodyElse() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (manager, listener) = try world.listeningManager()
            world.settle()
            world.kernel.failQuestions()
            checks.expect(manager.status, is: .unknown)
            world.kernel.failQuestions(nil)
            try world.apply(.lose)
            world.flush()
            world.clock.advance(by: .seconds(60))
            world.flush()
            checks.expect(listener.values.last, is: .notReachable)
            checks.expect(world.kernel.listenerCount, is: 1)
        }
    }

    @Test func whyItIsUnknownIsLoggedOnceForEachFailure() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let log = RecordingListener<String>()
            var options = NetworkReachabilityOptions()
            options.logger = Logger(label: "DenialTests") { _ in WarningRecorder(log) }
            let manager = try world.manager(of: nil, options: options)
            for round in 1...2 {
                world.kernel.failQuestions()
                for _ in 0..<5 { checks.expect(manager.status, is: .unknown) }
                checks.expect(log.values, is: Array(repeating: "status is unknown", count: 2 * round - 1))
                // Another failure is news.
                world.kernel.failQuestions(.notPermitted)
                for _ in 0..<5 { checks.expect(manager.status, is: .unknown) }
                checks.expect(log.count, is: 2 * round)
                world.kernel.failQuestions(nil)
                checks.expect(manager.status, is: .wired)
            }
        }
    }

    @Test func theNamespaceIsReplaced() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (manager, listener) = try world.listeningManager()
            world.settle()
            world.kernel.replaceNamespace()
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            checks.expect(world.kernel.connectionCount, is: 1)
            try world.apply(Change.ipv4Uplink)
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable, .wired])
            checks.expect(manager.status, is: .wired)
        }
    }

    @Test func theNamespaceIsReplacedWhileOnlyAsked() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let manager = try world.manager()
            checks.expect(manager.status, is: .wired)
            world.kernel.replaceNamespace()
            checks.expect(manager.status, is: .notReachable)
            checks.expect(world.kernel.connectionCount, is: 1)
        }
    }
}
