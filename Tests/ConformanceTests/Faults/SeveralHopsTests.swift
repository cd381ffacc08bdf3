import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Of several hops the kernel chooses one for each destination and source.
@Suite struct SeveralHopsTests {
    /// The hop that the kernel has chosen for an address stays the answer, with or without a carrier.
    @Test(arguments: WorldKind.allCases)
    func `an address whose hop has lost its carrier is not reachable, and others are`(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.cable() + Change.cable("c1", 2))
            let hops = [("10.1.0.1", "c0"), ("10.2.0.1", "c1")]
            try world.apply(.addRoute(RouteChange("0.0.0.0/0", hops: hops)))
            let managers = try (1...24).map { try world.manager(of: "203.0.113.\($0)") }
            let before = managers.map { $0.path.interface?.name }
            checks.expect(Set(before), is: ["c0", "c1"])
            try world.apply(.unplug("c0"))
            world.settle()
            for (manager, name) in zip(managers, before) {
                let path = manager.path
                checks.expect(path.interface?.name, is: name)
                checks.expect(path.reason, is: name == "c0" ? .noCarrier : nil)
            }
        }
    }

    /// IPv6 chooses for each transport protocol: an address counts if connections and datagrams to it have a hop with a carrier.
    @Test(arguments: WorldKind.allCases)
    func `of IPv6, connections and datagrams have hops of their own`(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.cable() + Change.cable("c1", 2))
            let hops = [("fd01::1", "c0"), ("fd02::1", "c1")]
            try world.apply(.addRoute(RouteChange("::/0", hops: hops)))
            try world.apply(.unplug("c0"))
            world.settle()
            let paths = try (1...32).map { try world.manager(of: "2001:db8::\($0)").path }
            let reachable = paths.count { $0.status.isReachable }
            // A quarter of them is expected, and a half if a single lookup decided.
            checks.expect((1...31).contains(reachable), is: true)
            for path in paths {
                checks.expect(path.interface?.name, is: path.status.isReachable ? "c1" : "c0")
            }
        }
    }

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
