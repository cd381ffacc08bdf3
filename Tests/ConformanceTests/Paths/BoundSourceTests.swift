import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// What is bound to an address of this machine.
@Suite struct BoundSourceTests {
    @Test(arguments: WorldKind.allCases)
    func `rules on the source decide`(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(
                Change.ipv4Uplink + [
                    .add("w0", .rawIP), .address("10.60.0.2/24", on: "w0"),
                    .addRule(RuleChange(from: "10.60.0.2", .lookUp(100))),
                    .route(RouteChange("0.0.0.0/0", on: "w0", table: 100)),
                ]
            )
            func path(from source: String?) throws -> NetworkPath {
                var options = NetworkReachabilityOptions()
                options.sourceAddress = source.flatMap { IPAddress($0) }
                return try world.manager(of: "203.0.113.7", options: options).path
            }
            checks.expect(try path(from: nil).interface?.name, is: "c0")
            let bound = try path(from: "10.60.0.2")
            checks.expect(bound.interface?.name, is: "w0")
            checks.expect(bound.source, is: IPAddress("10.60.0.2"))
            checks.expect(try path(from: "10.60.0.9").reason, is: .noSourceAddress)
            try world.apply(.remove("w0"))
            checks.expect(try path(from: "10.60.0.2").reason, is: .noSourceAddress)
        }
    }
}
