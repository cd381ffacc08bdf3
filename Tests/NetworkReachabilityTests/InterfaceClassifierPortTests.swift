import Netlink
import Testing

@testable import NetworkReachability

/// Bonds and bridges, and stacks that do not end.
@Suite struct InterfaceClassifierPortTests {
    @Test func `a bond is its active port`() {
        let links = FakeLinks(
            [
                .fake(1, "bond0", kind: "bond", active: 3), .fake(2, "eth0", portOf: 1), .fake(3, "wlan0", portOf: 1),
                .fake(4, kind: "vlan", over: 1),
            ],
            hardware: [3: LinkHardware(wireless: .station)]
        )
        #expect(links.classify(1)?.class == InterfaceClass(.wiFi))
        #expect(links.classify(4)?.class == InterfaceClass(.wiFi))
        #expect(links.classify(4)?.underlying == [1, 3])
    }

    @Test(arguments: ["bond", "team"])
    func `without an active port the ports that are up decide`(kind: String) {
        let links = FakeLinks([
            .fake(1, kind: kind, active: 77), .fake(2, "eth0", portOf: 1, flags: []),
            .fake(3, "eth1", portOf: 1, flags: .up), .fake(4, "wwan0", portOf: 1),
        ])
        #expect(links.classify(1)?.class == InterfaceClass(.wwan))
        #expect(links.classify(1)?.underlying == [4])
        // One port carries packets: the others need not be asked.
        #expect(links.classify(1)?.hardwareQuestions == 1)
    }

    @Test func `a bond whose ports are all down still is what they are`() {
        let links = FakeLinks([.fake(1, kind: "bond"), .fake(2, "wwan0", portOf: 1, flags: [])])
        #expect(links.classify(1)?.class == InterfaceClass(.wwan))
    }

    @Test func `virtual ports of a bridge do not count`() {
        let links = FakeLinks(
            [
                .fake(1, kind: "bridge"), .fake(2, kind: "veth", portOf: 1), .fake(3, kind: "tun", portOf: 1),
                .fake(4, kind: "netkit", portOf: 1), .fake(5, "wlan0", portOf: 1),
                .fake(6, kind: "bridge"), .fake(7, kind: "veth", portOf: 6), .fake(8, kind: "tun", portOf: 6),
            ],
            hardware: [5: LinkHardware(deviceType: "wlan")]
        )
        #expect(links.classify(1)?.class == InterfaceClass(.wiFi))
        #expect(links.classify(1)?.underlying == [5])
        #expect(links.classify(6)?.class == InterfaceClass(.wiredVirtual))
        #expect(links.classify(6)?.underlying == [])
    }

    @Test func `an uplink stands for a bridge before an access point, a device before a tunnel`() {
        let links = FakeLinks(
            [
                .fake(1, kind: "bridge"), .fake(2, "wlan0", portOf: 1), .fake(3, kind: "vxlan", portOf: 1),
                .fake(4, "eth0", portOf: 1), .fake(5, "eth1", portOf: 1),
            ],
            hardware: [2: LinkHardware(wireless: .accessPoint)]
        )
        #expect(links.classify(1)?.class == InterfaceClass(.ethernet))
        #expect(links.classify(1)?.underlying == [4])
    }

    @Test func `a bridge of an access point alone is no uplink`() {
        let links = FakeLinks(
            [.fake(1, kind: "bridge"), .fake(2, "wlan0", portOf: 1), .fake(3, "eth0", portOf: 1, flags: .up)],
            hardware: [2: LinkHardware(wireless: .accessPoint)]
        )
        #expect(links.classify(1)?.class == InterfaceClass(.wiFi, isUplink: false))
    }

    @Test func `cycles end`() {
        let links = FakeLinks([
            .fake(1, kind: "vlan", over: 1),
            .fake(2, kind: "macvlan", over: 3), .fake(3, kind: "vlan", over: 2),
            .fake(4, kind: "bridge", portOf: 4), .fake(5, kind: "bond", portOf: 5, active: 5),
            .fake(6, kind: "bridge"), .fake(7, kind: "vlan", over: 6, portOf: 6),
        ])
        #expect(links.classify(1)?.class == InterfaceClass(.ethernet))
        #expect(links.classify(1)?.underlying == [])
        #expect(links.classify(2)?.underlying == [3])
        #expect(links.classify(4)?.class == InterfaceClass(.wiredVirtual))
        #expect(links.classify(5)?.class == InterfaceClass(.wiredVirtual))
        #expect(links.classify(6)?.underlying == [7])
    }

    @Test func `eight layers are followed and no more`() {
        let modem = Link.fake(1, "wwan0")
        let stack = [modem] + (2...10).map { Link.fake($0, kind: "vlan", over: $0 - 1) }
        let links = FakeLinks(stack)
        #expect(links.classify(9)?.class == InterfaceClass(.wwan))
        #expect(links.classify(9)?.underlying == [8, 7, 6, 5, 4, 3, 2, 1])
        #expect(links.classify(10)?.class == InterfaceClass(.ethernet))
        #expect(links.classify(10)?.underlying.count == 8)
    }
}
