import Dispatch
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// The network that users' tests set.
@Suite struct SimulatedNetworkTests {
    private let network = SimulatedNetwork()

    @Test(arguments: InterfaceType.allCases)
    func `packets leave through an interface of the type that was set`(type: InterfaceType) throws {
        network.setPath(.reachable(type))
        for host in ["192.0.2.77", "2001:db8:7::7"] {
            let path = try NetworkReachabilityManager(host: host, network: network).path
            #expect(path.status == .reachable(type == .wwan ? .wwan : .ethernetOrWiFi))
            #expect(path.interface?.type == type, "\(path)")
            #expect(path.source != nil && (path.gateway != nil || type == .loopback))
        }
        #expect(try NetworkReachabilityManager(host: "127.0.0.1", network: network).path.interface?.type == .loopback)
    }

    @Test(
        arguments: [
            (.noRoute, .noRoute), (.noCarrier, .noCarrier), (.prohibited, .prohibited),
        ] as [(SimulatedNetwork.Path, NetworkPath.UnsatisfiedReason)]
    )
    func `a path that is missing has the reason that was set`(
        path: SimulatedNetwork.Path,
        reason: NetworkPath.UnsatisfiedReason
    ) throws {
        network.setPath(path)
        let manager = try NetworkReachabilityManager(network: network)
        #expect(manager.status == .notReachable)
        #expect(manager.path.reason == reason)
    }

    @Test func `listeners are called for each status that is set, also after the kernel permitted no queries`() throws {
        let manager = try NetworkReachabilityManager(network: network)
        let listener = RecordingListener<NetworkReachabilityStatus>()
        manager.startListening(onQueue: DispatchQueue(label: "test"), onUpdatePerforming: listener.record)
        let statuses: [NetworkReachabilityStatus] = [
            .reachable(.wwan), .notReachable, .reachable(.ethernetOrWiFi), .unknown, .reachable(.wwan),
        ]
        #expect(listener.waitForCount(1))
        for (index, status) in statuses.enumerated() {
            network.setStatus(status)
            #expect(listener.waitForCount(index + 2), "\(status)")
        }
        network.setPath(.reachable(.wwan))
        network.setStatus(.notReachable)
        #expect(listener.waitForCount(7))
        #expect(listener.values == [.reachable(.ethernetOrWiFi)] + statuses + [.notReachable])
    }

    @Test func `one destination has a path of its own`() throws {
        let address = try #require(IPAddress("192.0.2.77"))
        network.setPath(.noCarrier, to: address)
        let (one, other) = (
            try NetworkReachabilityManager(host: "192.0.2.77", network: network),
            try NetworkReachabilityManager(host: "192.0.2.78", network: network)
        )
        #expect(one.path.reason == .noCarrier && other.status.isReachable)
        network.setPath(.noRoute)
        #expect(one.path.reason == .noCarrier && other.path.reason == .noRoute)
        network.setPath(nil, to: address)
        #expect(one.path.reason == .noRoute)
    }

    @Test func `a name leads to the path of its addresses`() throws {
        let resolver = FakeResolver()
        resolver.set("example.org", addresses: ["192.0.2.77"])
        let manager = try NetworkReachabilityManager(host: "example.org", network: network, resolver: resolver)
        let listener = RecordingListener<NetworkReachabilityStatus>()
        manager.startListening(onQueue: DispatchQueue(label: "test"), onUpdatePerforming: listener.record)
        network.setPath(.noRoute)
        let isLost = { listener.values.last == .notReachable }
        for count in 1...3 where !isLost() { listener.waitForCount(count) }
        #expect(isLost())
    }
}
