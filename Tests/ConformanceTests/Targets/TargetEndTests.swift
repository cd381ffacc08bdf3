import Dispatch
import Netlink
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// Hosts, listeners and monitors that are removed while their events are pending. A release under a lock that the
/// deinitializer takes would be a deadlock.
@Suite struct TargetEndTests {
    private static let hosts = ["192.0.2.1", "198.51.100.1", "203.0.113.1"]

    @Test func `a host that is removed before its first evaluation is not reported`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (targets, recorder, token) = try world.recordedTargets()
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

    @Test func `removing the last host right after a change ends listening`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (targets, recorder, token) = try world.recordedTargets(["192.0.2.1"])
            world.flush()
            checks.expect(recorder.lines.count, is: 1)
            // The trailing evaluation is pending.
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

    @Test func `a changed host that is removed is not reported again`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (targets, recorder, token) = try world.recordedTargets(TargetEndTests.hosts)
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

    @Test func `many hosts can be removed while their evaluation is pending`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let hosts = (0..<1200).map { "198.18.\($0 / 256).\($0 % 256)" }
            let (targets, recorder, token) = try world.recordedTargets(hosts)
            world.flush()
            for _ in 0..<3 {
                try world.apply(.lose)
                for host in hosts.dropFirst(10) { targets.remove(host) }
                world.flush()
                try world.apply(.regain)
                try targets.setHosts(hosts)
                world.settle()
                checks.expect(recorder.latest.values.allSatisfy { $0 == .wired }, "an end is missing")
            }
            checks.expect(recorder.latest.count, is: hosts.count)
            token.cancel()
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `a token keeps its listener after its monitor was released`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
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
    func `a listener of many hosts can cancel its own token`(kind: WorldKind, onQueue: Bool) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
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
            checks.expect(in: world, recorder.received.count, becomes: 3)
            checks.expect(in: world, witness.received.count, becomes: 3)
            try world.apply(.lose)
            checks.expect(in: world, witness.received.count, becomes: 6)
            checks.expect(recorder.lines.count, is: 4)
            try world.apply(.regain)
            checks.expect(in: world, witness.received.count, becomes: 9)
            checks.expect(recorder.lines.count, is: 4)
            token.cancel()
        }
    }

    @Test func `hosts and listeners can be added and removed concurrently`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
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
                // Now the host is removed, and no listener receives it.
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

/// More changes than a listener can process, and more hosts than one evaluation includes.
@Suite struct TargetStormTests {
    @Test(arguments: WorldKind.allCases)
    func `a blocked listener receives only the latest state of each host`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let hosts = (1...50).map { "192.0.2.\($0)" } + ["203.0.113.1"]
            let targets = try world.targets(hosts)
            let (recorder, witness) = (ChangeRecorder(), ChangeRecorder())
            let tokens = [targets.listen(recorder), targets.listen(witness)]
            checks.expect(in: world, recorder.received.count, becomes: 51)
            checks.expect(in: world, witness.received.count, becomes: 51)
            let gate = DispatchSemaphore(value: 0)
            recorder.queue.async { gate.wait() }
            let storm = (1...1000).flatMap { number in
                let route = RouteChange("192.0.2.\(number % 50 + 1)/32", .blackhole)
                return [Change.addRoute(route), .removeRoute(route)]
            }
            if let fake = world as? FakeWorld {
                for change in storm {
                    try fake.apply(change)
                    fake.flush()
                }
            } else {
                try world.batch(storm)
            }
            try world.apply(.addRoute(RouteChange("192.0.2.0/28", .blackhole)))
            checks.expect(in: world, witness.latest["192.0.2.15"], becomes: .notReachable)
            checks.expect(in: world, witness.latest, becomes: targets.asked)
            checks.expect(recorder.received.count, is: 51)
            gate.signal()
            checks.expect(in: world, recorder.received.count, becomes: 66)
            checks.expect(recorder.latest, is: targets.asked)
            for (host, history) in recorder.histories {
                checks.expect(zip(history, history.dropFirst()).allSatisfy { $0 != $1 }, "\(host) twice: \(history)")
            }
            for token in tokens { token.cancel() }
        }
    }

    /// The reader is always slightly behind.
    @Test func `the number of pending changes is bounded by the number of hosts`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let hosts = ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
            let records = try hosts.map { host in
                (host, world.monitor.record(of: try Target(host: host, options: NetworkReachabilityOptions())))
            }
            let listener = ChangeListener(.status, .immediate, .signal {})
            for (host, record) in records { listener.follow(host, record) }
            var received: [NetworkReachabilityChange] = []
            for round in 0..<600 {
                try world.apply(round % 2 == 0 ? .lose : .regain)
                world.flush()
                _ = listener.take { received.append($0) }
                if round % 3 == 0 {
                    // Hosts are also removed and added.
                    listener.leave(hosts[0])
                    listener.follow(hosts[0], records[0].1)
                    world.flush()
                }
            }
            let kept = listener.state.withLock { $0.order.count }
            checks.expect(kept <= 14, "\(kept) are kept for 3 hosts")
            checks.expect(received.count > 100, "received \(received.count)")
            while listener.take({ received.append($0) }) != nil {}
            let latest = Dictionary(received.map { ($0.host, $0.status) }) { $1 }
            checks.expect(latest, is: ["192.0.2.1": .wired, "192.0.2.2": .wired, "192.0.2.3": .wired])
            listener.end()
        }
    }

    @Test func `the loss of each of ten thousand hosts is reported once and in order`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let hosts = (0..<10_000).map { "198.18.\($0 / 250).\($0 % 250 + 1)" }
            let (_, recorder, token) = try world.recordedTargets(hosts)
            checks.expect(in: world, recorder.received.count, becomes: hosts.count)
            checks.expect(recorder.lines == hosts.map { "\($0): \(NetworkReachabilityStatus.wired)" }, "not each first")
            recorder.forget()
            try world.apply(.down("c0"))
            checks.expect(in: world, recorder.received.count, becomes: hosts.count)
            world.settle()
            let lost = hosts.map { "\($0): \(NetworkReachabilityStatus.notReachable)" }
            checks.expect(recorder.lines.count, is: lost.count)
            checks.expect(recorder.lines == lost, "not one change per host in order")
            token.cancel()
        }
    }

    @Test func `other listeners are served during the evaluation of thousands of hosts`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let hosts = (0..<2000).map { "198.18.\($0 / 256).\($0 % 256)" }
            let targets = try world.targets(hosts)
            let (recorder, late, other) = (ChangeRecorder(), ChangeRecorder(), Listener())
            let token = targets.addListener(onQueue: nil, recorder.record)
            let manager = try world.manager(of: "203.0.113.1")
            manager.startListening(onQueue: other.queue, onUpdatePerforming: other.record)
            world.settle()
            checks.expect(recorder.received.count, is: 2000)
            checks.expect(other.values, is: [.wired])
            recorder.forget()
            // Work that is requested during the first portion is done before the last portion.
            let gate = DispatchSemaphore(value: 0)
            let held = targets.addListener(onQueue: nil) { change in
                if !change.status.isReachable, recorder.received.count < 300 { gate.wait() }
            }
            world.flush()
            try world.apply(.lose)
            checks.expect(recorder.received.waitForCount(1, timeout: .seconds(60)), "no change is reported")
            let more = try world.targets(["203.0.113.9"])
            let order = RecordingListener<Int>()
            let moreToken = more.addListener(onQueue: nil) { change in
                order.record(recorder.received.count)
                late.record(change)
            }
            manager.stopListening()
            held.cancel()
            for _ in 0..<300 { gate.signal() }
            world.settle()
            checks.expect(order.values.first.map { $0 < 2000 } ?? false, "served after \(order.values)")
            checks.expect(late.lines, is: ["203.0.113.9: not reachable"])
            checks.expect(recorder.received.count, is: 2000)
            checks.expect(recorder.latest.values.allSatisfy { $0 == .notReachable }, "a loss is missing")
            checks.expect(other.values.count <= 2, "reported after the end")
            for token in [token, moreToken] { token.cancel() }
        }
    }

    @Test func `cancelling a token stops the evaluation of thousands of hosts`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let targets = try world.targets((0..<2000).map { "198.18.\($0 / 256).\($0 % 256)" })
            let recorder = ChangeRecorder()
            let tokens = RecordingListener<NetworkReachabilityToken>()
            tokens.record(
                targets.addListener(onQueue: nil) { change in
                    recorder.record(change)
                    if !change.status.isReachable { tokens.last?.cancel() }
                }
            )
            world.settle()
            let evaluated = targets.statistics.evaluatedTargets
            try world.apply(.lose)
            world.settle()
            checks.expect(recorder.received.count, is: 2001)
            // Only the current portion was completed.
            checks.expect(targets.statistics.evaluatedTargets, is: evaluated + 256)
            checks.expect(world.kernel.listenerCount, is: 0)
        }
    }
}
