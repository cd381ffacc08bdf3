import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Of several hops the kernel chooses one for each destination and source.
@Suite struct SeveralHopsTests {
    /// No look may name another hop than the next: that would be a line too many.
    @Test func everyLookNamesTheSameLeg() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.cable())
            let managers = try (1...16).map { try world.manager(of: "203.0.113.\($0)") }
            let listeners = managers.map { _ in RecordingListener<NetworkPath>() }
            let tokens = zip(managers, listeners).map { $0.addPathListener(onQueue: nil, $1.record) }
            world.flush()
            let hops = [("10.1.0.1", "c0"), ("10.1.0.3", "c0")]
            try world.apply(.addRoute(RouteChange("0.0.0.0/0", hops: hops)))
            world.settle()
            for (manager, listener) in zip(managers, listeners) {
                checks.expect(listener.values.count, is: 2)
                checks.expect(listener.values.last?.gateway, is: manager.path.gateway)
            }
            let gateways = Set(managers.map { $0.path.gateway?.description })
            checks.expect(gateways, is: ["10.1.0.1", "10.1.0.3"])
            for token in tokens { token.cancel() }
        }
    }
}
