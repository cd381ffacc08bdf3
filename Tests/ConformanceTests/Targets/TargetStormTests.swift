import Dispatch
import Netlink
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// More changes than anybody can hear, and more hosts than are looked at in one go.
@Suite struct TargetStormTests {
    @Test(arguments: WorldKind.allCases)
    func aListenerThatIsHeldUpHearsTheLatestOnce(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
            let hosts = (1...50).map { "192.0.2.\($0)" } + ["203.0.113.1"]
            let targets = try world.targets(hosts)
            let (recorder, witness) = (ChangeRecorder(), ChangeRecorder())
            let tokens = [targets.listen(recorder), targets.listen(witness)]
            checks.expect(in: world, recorder.heard.count, becomes: 51)
            checks.expect(in: world, witness.heard.count, becomes: 51)
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
            checks.expect(recorder.heard.count, is: 51)
            gate.signal()
            checks.expect(in: world, recorder.heard.count, becomes: 66)
            checks.expect(recorder.latest, is: targets.asked)
            for (host, history) in recorder.histories {
                checks.expect(zip(history, history.dropFirst()).allSatisfy { $0 != $1 }, "\(host) twice: \(history)")
            }
            for token in tokens { token.cancel() }
        }
    }

    /// Not only a reader that reads nothing, also one that is always a little behind.
    @Test func whatIsKeptIsBoundedByTheHosts() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let hosts = ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
            let records = try hosts.map { host in
                (host, world.monitor.record(of: try Target(host: host, options: NetworkReachabilityOptions())))
            }
            let listener = ChangeListener(.status, .immediate, .signal {})
            for (host, record) in records { listener.follow(host, record) }
            var heard: [NetworkReachabilityChange] = []
            for round in 0..<600 {
                try world.apply(round % 2 == 0 ? .lose : .regain)
                world.flush()
                _ = listener.take { heard.append($0) }
                if round % 3 == 0 {
                    // And the hosts themselves come and go.
                    listener.leave(hosts[0])
                    listener.follow(hosts[0], records[0].1)
                    world.flush()
                }
            }
            checks.expect(listener.keptCount <= 14, "\(listener.keptCount) are kept for 3 hosts")
            checks.expect(heard.count > 100, "heard \(heard.count)")
            while listener.take({ heard.append($0) }) {}
            let latest = Dictionary(heard.map { ($0.host, $0.status) }) { $1 }
            checks.expect(latest, is: ["192.0.2.1": .wired, "192.0.2.2": .wired, "192.0.2.3": .wired])
            listener.end()
        }
    }

    @Test func eachOfTenThousandIsToldOfItsLossOnceAndInOrder() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let hosts = (0..<10_000).map { "198.18.\($0 / 250).\($0 % 250 + 1)" }
            let targets = try world.targets(hosts)
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
            checks.expect(in: world, recorder.heard.count, becomes: hosts.count)
            checks.expect(recorder.lines == hosts.map { "\($0): \(NetworkReachabilityStatus.wired)" }, "not each first")
            recorder.forget()
            try world.apply(.down("c0"))
            checks.expect(in: world, recorder.heard.count, becomes: hosts.count)
            world.settle()
            let lost = hosts.map { "\($0): \(NetworkReachabilityStatus.notReachable)" }
            checks.expect(recorder.lines.count, is: lost.count)
            checks.expect(recorder.lines == lost, "not each once, or not in order")
            token.cancel()
        }
    }

    @Test func othersAreServedWhileThousandsAreLookedAt() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let hosts = (0..<2000).map { "198.18.\($0 / 256).\($0 % 256)" }
            let targets = try world.targets(hosts)
            let (recorder, late, other) = (ChangeRecorder(), ChangeRecorder(), Listener())
            let token = targets.addListener(onQueue: nil, recorder.record)
            let manager = try world.manager(of: "203.0.113.1")
            manager.startListening(onQueue: other.queue, onUpdatePerforming: other.record)
            world.settle()
            checks.expect(recorder.heard.count, is: 2000)
            checks.expect(other.values, is: [.wired])
            recorder.forget()
            // What is asked for while the first portion is looked at comes before the last.
            let gate = DispatchSemaphore(value: 0)
            let held = targets.addListener(onQueue: nil) { change in
                if !change.status.isReachable, recorder.heard.count < 300 { gate.wait() }
            }
            world.flush()
            try world.apply(.lose)
            checks.expect(recorder.heard.waitForCount(1, timeout: .seconds(60)), "nothing is told")
            let more = try world.targets(["203.0.113.9"])
            let order = RecordingListener<Int>()
            let moreToken = more.addListener(onQueue: nil) { change in
                order.record(recorder.heard.count)
                late.record(change)
            }
            manager.stopListening()
            held.cancel()
            for _ in 0..<300 { gate.signal() }
            world.settle()
            checks.expect(order.values.first.map { $0 < 2000 } ?? false, "served after \(order.values)")
            checks.expect(late.lines, is: ["203.0.113.9: not reachable"])
            checks.expect(recorder.heard.count, is: 2000)
            checks.expect(recorder.latest.values.allSatisfy { $0 == .notReachable }, "not all are told")
            checks.expect(other.values.count <= 2, "told after the end")
            for token in [token, moreToken] { token.cancel() }
        }
    }

    @Test func cancellingIsServedWhileThousandsAreLookedAt() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
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
            checks.expect(recorder.heard.count, is: 2001)
            // Not one more portion than was under way.
            checks.expect(targets.statistics.evaluatedTargets, is: evaluated + 256)
            checks.expect(world.kernel.listenerCount, is: 0)
        }
    }
}
