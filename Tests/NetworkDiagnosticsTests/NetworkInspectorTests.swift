import Foundation
import KernelLab
import NetworkLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkDiagnostics
@testable import NetworkReachability

/// The interfaces of a simulated network.
@Suite struct NetworkInspectorTests {
    private let kernel = FakeKernel.connected()
    private let inspector: NetworkInspector

    init() {
        inspector = NetworkInspector(kernel: kernel)
        kernel.addAddress("2001:db8::7/64", to: "eth0", tentative: true)
    }

    private func eth0() throws -> InterfaceDetails {
        try #require(try inspector.interfaces().first { $0.interface.name == "eth0" })
    }

    /// Waits for the pending work on the monitor's queue.
    private func settle() {
        inspector.monitor.queue.sync {}
    }

    @Test func `an interface has addresses and default routes`() throws {
        let details = try eth0()
        #expect(details.interface.type == .ethernet)
        #expect(details.state == .up)
        #expect(details.hasCarrier == true)
        #expect(!details.isExpensive)
        let addresses = details.addresses.filter { !$0.address.isLinkLocal }
        #expect(
            addresses.map { "\($0.address)/\($0.prefixLength) \($0.marks)" } == [
                "192.0.2.7/24 []", #"2001:db8::7/64 ["tentative"]"#,
            ]
        )
        #expect(
            details.defaultRoutes.map { "\($0.gateway?.description ?? "-") \($0.metric) \($0.table)" } == [
                "192.0.2.1 0 254"
            ]
        )
        #expect(try inspector.interfaces().map(\.interface.name) == ["lo", "eth0"])
    }

    @Test func `the state follows the link`() throws {
        kernel.setCarrier("eth0", false)
        #expect(try eth0().state == .noCarrier)
        #expect(try eth0().hasCarrier == false)
        kernel.setCarrier("eth0", true)
        kernel.setDormant("eth0")
        #expect(try eth0().state == .dormant)
        kernel.setUp("eth0", false)
        #expect(try eth0().state == .down)
        #expect(try eth0().hasCarrier == nil)
    }

    @Test func `a modem and the links over it are expensive`() throws {
        kernel.addLink("wwan0", kind: .wwan)
        let modem = try #require(try inspector.interfaces().first { $0.interface.name == "wwan0" })
        #expect(modem.isExpensive)
        #expect(modem.interface.type == .wwan)
    }

    @Test func `each change is reported once, and a storm five times per second`() async throws {
        let received = RecordingListener<[String]>()
        let watch = inspector.watchInterfaces { result in
            received.record(((try? result.get()) ?? []).flatMap { $0.addresses.map { "\($0.address)" } })
        }
        #expect(await received.waitForCount(1))
        for number in 10..<60 { kernel.addAddress("198.51.100.\(number)/32", to: "eth0") }
        settle()
        #expect(received.values.count == 1)
        await kernel.clock.advance(by: .milliseconds(200))
        #expect(await received.waitForCount(2))
        #expect(received.values[1].count == received.values[0].count + 50)
        // The evaluation after a burst finds no difference.
        await kernel.clock.advance(by: .seconds(10))
        settle()
        #expect(received.values.count == 2)
        watch.cancel()
        kernel.removeAddress("198.51.100.10/32", from: "eth0")
        await kernel.clock.advance(by: .seconds(10))
        settle()
        #expect(received.values.count == 2)
    }
}

extension NetworkInspector {
    /// Returns an inspector of a simulated network.
    convenience init(kernel: FakeKernel, resolver: FakeResolver = FakeResolver()) {
        let environment = MonitorEnvironment(kernel: kernel, clock: kernel.clock, resolver: resolver)
        self.init(monitor: PathMonitor(environment: environment), options: NetworkReachabilityOptions())
    }
}

/// The interfaces of a namespace, compared with `ip -j`: the same links, kinds, addresses and default routes.
@Suite struct InterfaceAgreementTests {
    /// A namespace with every kind of link that this kernel supports.
    private func namespace() async throws -> (LabNamespace, kinds: Set<String>) {
        try await LabThread.detached {
            let namespace = try LabNamespace()
            try namespace.ip(
                "link set lo up",
                "link add v0 type veth peer name v1",
                "link set v0 up",
                "link set v1 up",
                "addr add 192.0.2.2/24 dev v0",
                "addr add 192.0.2.3/24 dev v0",
                "addr add 198.51.100.1 peer 198.51.100.2/32 dev v0",
                "addr add 2001:db8::2/64 dev v0",
                "addr add 2001:db8:1::2/64 dev v0 preferred_lft 0 valid_lft 1000 nodad"
            )
            var kinds: Set<String> = ["veth"]
            let others = [
                "vlan": "link add link v0 name v0.7 type vlan id 7", "dummy": "link add d0 type dummy",
                "macvlan": "link add link v0 name mv0 type macvlan mode bridge", "bridge": "link add br0 type bridge",
                "vxlan": "link add vx0 type vxlan id 9 remote 192.0.2.9 dstport 4789 dev v0",
                "bond": "link add bond0 type bond mode active-backup", "tun": "tuntap add mode tun tun0",
                "gre": "link add g0 type gre remote 192.0.2.9 local 192.0.2.2", "vrf": "link add vrf0 type vrf table 9",
            ]
            for (kind, command) in others {
                let result = try namespace.run("ip", command.split(separator: " ").map(String.init))
                if result.status == 0 { kinds.insert(kind) }
            }
            if kinds.contains("bridge") { try namespace.ip("link set v1 master br0", "link set br0 up") }
            try namespace.ip(
                "route add default via 192.0.2.1 metric 5",
                "route add default via 192.0.2.9 metric 6",
                "route add 0.0.0.0/1 via 192.0.2.1",
                "route add blackhole default metric 9",
                "route add 10.0.0.0/8 via 192.0.2.1",
                "-6 route add default via 2001:db8::1",
                "-6 route add 2000::/3 via 2001:db8::1",
                "-6 route add unreachable default metric 9999"
            )
            return (namespace, kinds)
        }
    }

    private func objects(_ arguments: [String], in namespace: LabNamespace) async throws -> [[String: Any]] {
        let output = try await LabThread.detached { try namespace.run("ip", ["-d", "-j"] + arguments).output }
        return try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [[String: Any]])
    }

    @Test func `names, kinds, addresses and default routes agree with ip`() async throws {
        let (namespace, kinds) = try await namespace()
        let ours = try await LabThread.detached {
            var options = NetworkReachabilityOptions()
            options.networkNamespace = .path(namespace.path)
            return try NetworkInspector(options: options).interfaces()
        }
        let theirs = try await objects(["link"], in: namespace)
        #expect(ours.map { Optional($0.interface.name) } == theirs.map { $0["ifname"] as? String })
        #expect(ours.map { Optional(Int($0.interface.index)) } == theirs.map { $0["ifindex"] as? Int })
        #expect(ours.map { Optional(Int($0.mtu)) } == theirs.map { $0["mtu"] as? Int })
        #expect(ours.map(\.kind) == theirs.map { ($0["linkinfo"] as? [String: Any])?["info_kind"] as? String })
        #expect(kinds.isSubset(of: Set(ours.compactMap(\.kind))))
        for (one, other) in zip(ours, theirs) {
            let flags = try #require(other["flags"] as? [String])
            let isUp = flags.contains("UP")
            #expect(one.hasCarrier == (isUp ? flags.contains("LOWER_UP") : nil))
            #expect(one.state == (isUp ? flags.contains("LOWER_UP") ? .up : .noCarrier : .down))
        }
        for (one, other) in zip(ours, try await objects(["addr"], in: namespace)) {
            let its = (other["addr_info"] as? [[String: Any]])?.map { address in
                "\(address["local"] ?? "")/\(address["prefixlen"] ?? "")"
            }
            #expect(one.addresses.map { "\($0.address)/\($0.prefixLength)" } == its)
        }
        for (isIPv6, option) in [(false, "-4"), (true, "-6")] {
            let its = try await objects([option, "route", "show", "default"], in: namespace).filter {
                $0["type"] as? String == "unicast"
            }
            let mine = ours.flatMap(\.defaultRoutes).filter { $0.isIPv6 == isIPv6 }
            #expect(mine.map { $0.gateway?.description } == its.map { $0["gateway"] as? String })
            #expect(mine.map { Int($0.metric) } == its.map { $0["metric"] as? Int ?? 0 })
            #expect(mine.allSatisfy { $0.table == 254 })
        }
    }
}
