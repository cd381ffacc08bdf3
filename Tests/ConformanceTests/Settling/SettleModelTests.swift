import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Random histories, the same ones in every run, heard under every policy and compared with a model.
@Suite struct SettleModelTests {
    private static let policies: [SettlePolicy] = [
        .immediate, .settled(for: .milliseconds(1)), .settled(for: .milliseconds(700)), .settled(for: .seconds(3)),
    ]

    @Test(arguments: UInt64(1)...8)
    func whatIsHeardIsWhatTheModelSays(seed: UInt64) async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink + [.add("w0", .rawIP), .address("10.60.0.2/24", on: "w0")])
            let manager = try world.manager()
            let heard = SettleModelTests.policies.map { _ in RecordingListener<SettleModel.Entry>() }
            let tokens = zip(SettleModelTests.policies, heard)
                .map { policy, heard in
                    manager.addPathListener(for: .status, settle: policy, onQueue: nil) { path in
                        heard.record(SettleModel.Entry(time: world.clock.monotonic, status: path.status))
                    }
                }
            world.flush()
            var models = SettleModelTests.policies.map { SettleModel($0, at: world.clock.monotonic, .wired) }
            var (flaps, status) = (FlapModel(), NetworkReachabilityStatus.wired)
            var random = SettleHistory(seed: seed)
            for _ in 0..<60 {
                let milliseconds = random.pause()
                world.pass(.milliseconds(milliseconds))
                for index in models.indices { models[index].pass(milliseconds: milliseconds) }
                let next = random.status()
                try SettleModelTests.lead(world, from: status, to: next)
                if next != status { flaps.change(at: world.clock.monotonic) }
                status = next
                for index in models.indices { models[index].change(to: next) }
                let now = world.clock.monotonic
                checks.expect(manager.path.isFlapping, is: flaps.isFlapping(at: now))
                checks.expect(manager.flapCount, is: flaps.count(at: now))
            }
            world.pass(.seconds(100))
            for index in models.indices { models[index].pass(milliseconds: 100_000) }
            for (model, heard) in zip(models, heard) { checks.expect(heard.values, is: model.heard) }
            checks.expect(world.clock.scheduledCount, is: 0)
            for token in tokens { token.cancel() }
        }
    }

    /// Changes the network in one step so that its status becomes `next`, or does something that leaves it alone.
    private static func lead(
        _ world: FakeWorld,
        from status: NetworkReachabilityStatus,
        to next: NetworkReachabilityStatus
    ) throws {
        let modem = RouteChange("0.0.0.0/0", on: "w0")
        switch (status, next) {
        case (.wired, .notReachable): try world.change(.lose)
        case (.notReachable, .wired): try world.change(.regain)
        case (.reachable, .notReachable): try world.change(.removeRoute(modem))
        case (.notReachable, .reachable): try world.change(.addRoute(modem))
        case (.wired, .reachable(.wwan)): try world.change(.replaceRoute(modem))
        case (.reachable(.wwan), .wired): try world.change(.replaceRoute(RouteChange("0.0.0.0/0", via: "10.1.0.1")))
        default:
            try world.change(.addRoute(RouteChange("198.51.100.0/24", .blackhole)))
            try world.change(.removeRoute(RouteChange("198.51.100.0/24", .blackhole)))
        }
    }
}
