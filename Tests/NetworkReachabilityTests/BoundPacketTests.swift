import LinuxSupport
import NetworkLab
import Testing

@testable import NetworkReachability

/// The answer for an interface, beside packets that are bound to it.
@Suite struct BoundPacketTests {
    private static let hosts = ["1.1.1.1", "2606:4700:4700::1111"]

    @Test func `packets bound to an interface use its routes`() async throws {
        let network = try await LabThread.detached { try Topology(.two) }
        defer { network.close() }
        try await expect(network, over: "c0", true)
        try await expect(network, over: "c1", false)
        try await LabThread.detached {
            try network.client.ip(
                "-4 route add default via 10.2.0.1 dev c1 metric 500",
                "-6 route add default via fd02::1 dev c1 metric 5000"
            )
        }
        try await expect(network, over: "c0", true)
        try await expect(network, over: "c1", true)
        try await LabThread.detached {
            try network.client.ip("-4 route del default dev c0", "-6 route del default dev c0")
        }
        try await expect(network, over: "c0", false)
        try await expect(network, over: "c1", true)
        try await LabThread.detached { try network.client.ip("link set c1 down") }
        try await expect(network, over: "c1", false)
        try await expect(network, over: "c9", false)
    }

    private func expect(_ network: Topology, over name: String, _ isReachable: Bool) async throws {
        let bound = Self.hosts.map { "\($0)%\(name)" }
        try await LabThread.detached {
            let reachable = try network.oracle.reachable(of: bound, expecting: isReachable ? Set(bound) : [])
            #expect(reachable == (isReachable ? Set(bound) : []), "packets over \(name)")
            var options = NetworkReachabilityOptions()
            options.networkNamespace = .path(network.client.path)
            for host in bound {
                #expect(
                    try NetworkReachabilityManager(host: host, options: options).isReachable == isReachable,
                    "\(host)"
                )
            }
            options.interface = name
            for host in Self.hosts {
                #expect(
                    try NetworkReachabilityManager(host: host, options: options).isReachable == isReachable,
                    "\(host)"
                )
            }
            for family in [nil, AddressFamily.ipv4, .ipv6] {
                options.family = family
                #expect(try NetworkReachabilityManager(options: options).isReachable == isReachable, "over \(name)")
            }
        }
    }
}
