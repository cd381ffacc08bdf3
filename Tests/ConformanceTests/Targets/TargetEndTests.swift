import Dispatch
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Hosts, listeners and monitors that go while something is under way of them. What is let go of under a lock that its end
/// takes would stop everything.
@Suite struct TargetEndTests {
    private static let hosts = ["192.0.2.1", "198.51.100.1", "203.0.113.1"]

    @Test func aHostThatGoesBeforeItsFirstLook() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let targets = try world.targets()
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
            try world.holdingMonitor {
                for host in TargetEndTests.hosts {
                    try targets.insert(host)
                    targets.remove(host)
                }
            }
            world.flush()
            checks.expect(recorder.lines, is: [])
            checks.expect(world.kernel.listenerCount, is: 0)
            token.cancel()
        }
    }

    @Test func theLastHostGoesRightAfterAChange() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let targets = try world.targets(["192.0.2.1"])
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
            world.flush()
            checks.expect(recorder.lines.count, is: 1)
            // The trailing look is still to come.
            try world.apply(.addRoute(RouteChange("192.0.2.0/24", .blackhole)))
            world.flush()
            checks.expect(recorder.lines.count, is: 2)
            world.holdingMonitor { _ = targets.remove("192.0.2.1") }
            world.settle()
            checks.expect(recorder.lines.count, is: 2)
            checks.expect(world.kernel.listenerCount, is: 0)
            checks.expect(world.clock.scheduledCount, is: 0)
            token.cancel()
        }
    }

    @Test func aHostThatWasTouchedGoesBeforeEverythingIs() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let targets = try world.targets(TargetEndTests.hosts)
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
            world.flush()
            checks.expect(recorder.latest.count, is: TargetEndTests.hosts.count)
            try world.apply(.addRoute(RouteChange("192.0.2.0/24", .blackhole)))
            world.flush()
            checks.expect(recorder.latest["192.0.2.1"], is: .notReachable)
            world.holdingMonitor { _ = targets.remove("192.0.2.1") }
            world.flush()
            try world.apply(.down("c0"))
            world.settle()
            checks.expect(recorder.latest["203.0.113.1"], is: .notReachable)
            checks.expect(recorder.histories["192.0.2.1"], is: [.wired, .notReachable])
            token.cancel()
        }
    }

    @Test func manyHostsGoWhileTheyWaitToBeLookedAt() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let hosts = (0..<1200).map { "198.18.\($0 / 256).\($0 % 256)" }
            let targets = try world.targets(hosts)
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
            world.flush()
            for _ in 0..<3 {
                try world.apply(.lose)
                for host in hosts.dropFirst(10) { targets.remove(host) }
                world.flush()
                try world.apply(.regain)
                try targets.setHosts(hosts)
                world.settle()
                checks.expect(recorder.latest.values.allSatisfy { $0 == .wired }, "not all are told the end")
            }
            checks.expect(recorder.latest.count, is: hosts.count)
            token.cancel()
        }
    }

    @Test(arguments: WorldKind.allCases)
    func theMonitorGoesAndItsTokenStays(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
            var targets: NetworkReachabilityMonitor? = try world.targets(["192.0.2.1"])
            let recorder = ChangeRecorder()
            let token = targets?.listen(recorder)
            checks.expect(in: world, recorder.histories["192.0.2.1"], becomes: [.wired])
            weak let released = targets
            targets = nil
            checks.expect(released == nil, "the monitor lives on")
            try world.apply(.lose)
            checks.expect(in: world, recorder.histories["192.0.2.1"], becomes: [.wired, .notReachable])
            token?.cancel()
            try world.apply(.regain)
            world.settle()
            checks.expect(recorder.histories["192.0.2.1"], is: [.wired, .notReachable])
        }
    }

    @Test(arguments: WorldKind.allCases, [true, false])
    func theTokenEndsInsideTheListener(kind: WorldKind, onQueue: Bool) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
            let targets = try world.targets(TargetEndTests.hosts)
            let (recorder, witness) = (ChangeRecorder(), ChangeRecorder())
            let tokens = RecordingListener<NetworkReachabilityToken>()
            tokens.record(
                targets.addListener(onQueue: onQueue ? recorder.queue : nil) { change in
                    recorder.record(change)
                    if !change.status.isReachable { tokens.values.first?.cancel() }
                }
            )
            let token = targets.listen(witness)
            checks.expect(in: world, recorder.heard.count, becomes: 3)
            checks.expect(in: world, witness.heard.count, becomes: 3)
            try world.apply(.lose)
            checks.expect(in: world, witness.heard.count, becomes: 6)
            checks.expect(recorder.lines.count, is: 4)
            try world.apply(.regain)
            checks.expect(in: world, witness.heard.count, becomes: 9)
            checks.expect(recorder.lines.count, is: 4)
            token.cancel()
        }
    }

    @Test func insertionsRemovalsAndListenersFromManyThreads() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let targets = try world.targets()
            for _ in 0..<60 {
                let recorders = (0..<4).map { _ in ChangeRecorder() }
                let tokens = RecordingListener<NetworkReachabilityToken>()
                DispatchQueue.concurrentPerform(iterations: 4) { thread in
                    if thread == 3 {
                        for recorder in recorders { tokens.record(targets.listen(recorder)) }
                    } else {
                        for round in 0..<20 {
                            if (round + thread) % 2 == 0 {
                                _ = try? targets.insert("192.0.2.1")
                            } else {
                                targets.remove("192.0.2.1")
                            }
                        }
                    }
                }
                // Whoever was last: now it is not watched, and nobody hears of it.
                targets.remove("192.0.2.1")
                world.settle()
                checks.expect(world.kernel.listenerCount, is: 0)
                checks.expect(world.clock.scheduledCount, is: 0)
                for recorder in recorders { recorder.forget() }
                try world.apply(.lose, .regain)
                try targets.insert("192.0.2.1")
                world.flush()
                for recorder in recorders { checks.expect(recorder.lines.count, is: 1) }
                targets.remove("192.0.2.1")
                world.flush()
                if world.kernel.listenerCount != 0 { return }
                for token in tokens.values { token.cancel() }
            }
        }
    }
}
