import Netlink
import Testing

@testable import NetworkReachability

@Suite struct InterfaceClassifierTests {
    @Test func `a renamed link of a modem is classified by its lower device`() throws {
        let links = FakeLinks(
            [.fake(1, "data0", type: .none), .fake(2, "wwan0", bus: "usb")],
            hardware: [1: LinkHardware(lowerIndex: 2), 2: LinkHardware(deviceType: "wwan", driver: "qmi_wwan")]
        )
        let found = try #require(links.classify(1))
        #expect(found.class.type == .wwan)
        #expect(found.class.isWWAN)
        #expect(found.underlying == [2])
    }

    private let wire = Link.fake(1, "eth9")

    @Test(arguments: Device.software)
    func `software devices are classified without hardware queries`(device: Device) {
        let links = FakeLinks([device.link, wire], hardware: [2: device.hardware])
        let found = links.classify(device.link)
        #expect(found.class.type == device.expected)
        #expect(found.class.isWWAN == (device.expected == .wwan))
        #expect(found.class.isUplink == device.isUplink)
        // A stack ends at the physical device, the only one whose hardware is queried.
        #expect(found.hardwareQuestions == (found.underlying.isEmpty ? 0 : 1))
    }

    @Test(arguments: Device.physical, [true, false])
    func `hardware devices are classified with and without sysfs`(device: Device, sysfs: Bool) {
        var hardware = device.hardware
        if !sysfs { hardware.deviceType = nil }
        let links = FakeLinks([device.link], hardware: [2: hardware])
        let found = links.classify(device.link)
        #expect(found.class == InterfaceClass(device.expected))
        #expect(found.underlying.isEmpty)
        #expect(found.hardwareQuestions == 1)
    }

    @Test(arguments: Device.physical.filter { $0.hardware.deviceType != nil })
    func `sysfs alone is sufficient to classify hardware devices`(device: Device) {
        let links = FakeLinks([device.link], hardware: [2: LinkHardware(deviceType: device.hardware.deviceType)])
        #expect(links.classify(2)?.class.type == device.expected)
    }

    @Test func `an L2TP interface is a tunnel under any name`() {
        let links = FakeLinks([.fake(2, "wan0")], hardware: [2: LinkHardware(deviceType: "l2tpeth")])
        #expect(links.classify(2)?.class == InterfaceClass(.tunnel))
    }

    @Test(arguments: [WirelessRole.accessPoint, .accessPointVLAN, .peerGroupOwner, .monitor])
    func `a Wi-Fi interface that serves other stations is not an uplink`(role: WirelessRole) {
        let links = FakeLinks([.fake(2, "wlan0")], hardware: [2: LinkHardware(wireless: role, deviceType: "wlan")])
        #expect(links.classify(2)?.class == InterfaceClass(.wiFi, isUplink: false))
    }

    @Test func `a device with a modem driver is a modem under any name`() {
        for driver in [
            "qmi_wwan", "cdc_mbim", "huawei_cdc_ncm", "sierra_net", "hso", "iosm", "mtk_t7xx", "mhi_wwan_mbim",
            "GobiNet",
        ] {
            let links = FakeLinks([.fake(2, "enx0")], hardware: [2: LinkHardware(driver: driver)])
            #expect(links.classify(2)?.class == InterfaceClass(.wwan), "\(driver)")
        }
    }

    @Test(arguments: ["vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "dsa"])
    func `a stacked link has the class of its lower link`(kind: String) {
        let links = FakeLinks(
            [.fake(1, "wlan0"), .fake(2, kind: kind, over: 1), .fake(3, "wwan0"), .fake(4, kind: kind, over: 3)],
            hardware: [1: LinkHardware(wireless: .accessPoint)]
        )
        #expect(links.classify(2)?.class == InterfaceClass(.wiFi, isUplink: false))
        #expect(links.classify(2)?.underlying == [1])
        #expect(links.classify(4)?.class == InterfaceClass(.wwan))
    }

    @Test func `a stacked link with an unknown lower link is ethernet`() {
        let links = FakeLinks([
            .fake(1, "wwan0"),
            .fake(2, kind: "macvlan", over: 1, elsewhere: true),
            .fake(3, kind: "vlan", over: 99),
            .fake(4, kind: "vlan"),
            .fake(5, kind: "vlan", over: 2),
        ])
        for index: UInt32 in 2...4 {
            #expect(links.classify(index)?.class == InterfaceClass(.ethernet))
            #expect(links.classify(index)?.underlying == [])
        }
        #expect(links.classify(5)?.class == InterfaceClass(.ethernet))
        #expect(links.classify(5)?.underlying == [2])
        #expect(links.classify(5)?.hardwareQuestions == 0)
    }

    @Test func `a tunnel over a modem is a tunnel and WWAN`() {
        let links = FakeLinks([
            .fake(1, "wwan0"), .fake(2, kind: "vxlan", over: 1), .fake(3, kind: "gretap", over: 2),
            .fake(4, kind: "vxlan", over: 1, elsewhere: true),
        ])
        #expect(links.classify(3)?.class == InterfaceClass(type: .tunnel, isWWAN: true))
        #expect(links.classify(3)?.underlying == [2, 1])
        #expect(links.classify(4)?.class == InterfaceClass(.tunnel))
    }

    @Test func `the lower links of modems and Wi-Fi are listed`() {
        let links = FakeLinks([
            .fake(1, "eth0"), .fake(2, kind: "rmnet", type: .rawIP, over: 1), .fake(3, kind: "virt_wifi", over: 1),
        ])
        #expect(links.classify(2)?.class == InterfaceClass(.wwan))
        #expect(links.classify(2)?.underlying == [1])
        #expect(links.classify(3)?.class == InterfaceClass(.wiFi))
        #expect(links.classify(3)?.underlying == [1])
    }

    @Test func `the other end of a pair is not a lower link`() {
        let links = FakeLinks([.fake(1, "wwan0"), .fake(2, kind: "veth", over: 1), .fake(3, kind: "netkit", over: 1)])
        for index: UInt32 in 2...3 {
            #expect(links.classify(index)?.class == InterfaceClass(.wiredVirtual))
            #expect(links.classify(index)?.underlying == [])
            #expect(links.classify(index)?.linkQuestions == 0)
        }
    }
}

/// Bonds and bridges, and stacks without an end.
@Suite struct InterfaceClassifierPortTests {
    @Test func `a bond has the class of its active port`() {
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
    func `without an active port, the ports that are up decide`(kind: String) {
        let links = FakeLinks([
            .fake(1, kind: kind, active: 77), .fake(2, "eth0", portOf: 1, flags: []),
            .fake(3, "eth1", portOf: 1, flags: .up), .fake(4, "wwan0", portOf: 1),
        ])
        #expect(links.classify(1)?.class == InterfaceClass(.wwan))
        #expect(links.classify(1)?.underlying == [4])
        // One port carries packets, so the others are not queried.
        #expect(links.classify(1)?.hardwareQuestions == 1)
    }

    @Test func `a bond with all ports down has the class of its ports`() {
        let links = FakeLinks([.fake(1, kind: "bond"), .fake(2, "wwan0", portOf: 1, flags: [])])
        #expect(links.classify(1)?.class == InterfaceClass(.wwan))
    }

    @Test func `virtual ports of a bridge are ignored`() {
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

    @Test func `a bridge prefers uplinks over access points and devices over tunnels`() {
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

    @Test func `a bridge with only an access point is not an uplink`() {
        let links = FakeLinks(
            [.fake(1, kind: "bridge"), .fake(2, "wlan0", portOf: 1), .fake(3, "eth0", portOf: 1, flags: .up)],
            hardware: [2: LinkHardware(wireless: .accessPoint)]
        )
        #expect(links.classify(1)?.class == InterfaceClass(.wiFi, isUplink: false))
    }

    @Test func `a cycle of links ends the classification`() {
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

    @Test func `at most eight layers are followed`() {
        let modem = Link.fake(1, "wwan0")
        let stack = [modem] + (2...10).map { Link.fake($0, kind: "vlan", over: $0 - 1) }
        let links = FakeLinks(stack)
        #expect(links.classify(9)?.class == InterfaceClass(.wwan))
        #expect(links.classify(9)?.underlying == [8, 7, 6, 5, 4, 3, 2, 1])
        #expect(links.classify(10)?.class == InterfaceClass(.ethernet))
        #expect(links.classify(10)?.underlying.count == 8)
    }
}

/// A set of links that exist only in a test, and the queries about them.
struct FakeLinks {
    private let links: [Link]
    private let hardware: [UInt32: LinkHardware]

    init(_ links: [Link], hardware: [UInt32: LinkHardware] = [:]) {
        self.links = links
        self.hardware = hardware
    }

    /// Classifies the link with this index, which must exist.
    func classify(_ index: UInt32) -> Classification? {
        links.first { $0.index == index }.map(classify)
    }

    func classify(_ link: Link) -> Classification {
        var answers = Answers()
        var asked: [KernelQuery] = []
        while true {
            do throws(MissingAnswers) {
                let found = try answers.classify(link)
                return Classification(class: found.class, underlying: found.underlying.map(\.index), asked: asked)
            } catch {
                asked += error.queries
                answers.add(Answers.Round(queries: error.queries, answers: error.queries.map(answer)))
            }
        }
    }

    private func answer(to question: KernelQuery) -> KernelResponse {
        switch question {
        case .link(let index): .link(links.first { $0.index == index })
        case .hardware(let link): .hardware(hardware[link.index] ?? LinkHardware())
        default: .links(links)
        }
    }
}

/// The class of a link, and the queries that were needed.
struct Classification {
    let `class`: InterfaceClass
    let underlying: [UInt32]
    let asked: [KernelQuery]

    /// The queries that require system calls.
    var hardwareQuestions: Int { asked.count { if case .hardware = $0 { true } else { false } } }
    var linkQuestions: Int { asked.count { if case .link = $0 { true } else { false } } }
}

extension Link {
    /// Creates a link that carries packets. The default name contains its index.
    static func fake(
        _ index: UInt32,
        _ name: String? = nil,
        kind: String? = nil,
        type: HardwareType = .ethernet,
        over lower: UInt32? = nil,
        elsewhere: Bool = false,
        portOf controller: UInt32? = nil,
        active: UInt32? = nil,
        bus: String? = nil,
        flags: LinkFlags = [.up, .running, .carrier]
    ) -> Link {
        Link(
            index: index,
            name: name ?? "if\(index)",
            flags: flags,
            hardwareType: type,
            kind: kind,
            lowerIndex: lower,
            isLowerInOtherNamespace: elsewhere,
            controllerIndex: controller,
            activePortIndex: active,
            parentBus: bus
        )
    }
}

/// A device as the kernel shows it, observed with a real driver, and its expected class.
///
/// Stacked devices run over link 1, an ethernet device.
struct Device: Sendable, CustomTestStringConvertible {
    let link: Link
    let expected: InterfaceType
    var isUplink = true
    var hardware = LinkHardware()

    init(
        _ expected: InterfaceType,
        _ name: String,
        kind: String? = nil,
        type: UInt16 = 1,
        over lower: UInt32? = nil,
        elsewhere: Bool = false,
        bus: String? = nil,
        deviceType: String? = nil,
        driver: String? = nil,
        role: WirelessRole? = nil,
        isUplink: Bool = true
    ) {
        link = .fake(
            2,
            name,
            kind: kind,
            type: HardwareType(rawValue: type),
            over: lower,
            elsewhere: elsewhere,
            bus: bus
        )
        self.expected = expected
        self.isUplink = isUplink
        hardware = LinkHardware(wireless: role, deviceType: deviceType, driver: driver)
    }

    var testDescription: String { "\(link.name) \(link.kind ?? "-") \(link.hardwareType.rawValue)" }

    /// Devices that are classified by their link alone.
    static let software: [Device] = [
        Device(.loopback, "lo", type: 772),
        Device(.wiFi, "virt0", kind: "virt_wifi", over: 1, deviceType: "wlan", driver: "virt_wifi"),
        Device(.wwan, "wwan0", kind: "wwan", type: 65534, deviceType: "wwan", driver: "wwan"),
        Device(.wwan, "rmnet_data0", kind: "rmnet", type: 519, over: 1, driver: "rmnet"),
        Device(.wwan, "raw0", type: 519),
        Device(.wiredVirtual, "veth0", kind: "veth", over: 1, driver: "veth"),
        Device(.wiredVirtual, "veth0", kind: "veth", over: 1, elsewhere: true, driver: "veth"),
        Device(.wiredVirtual, "nk0", kind: "netkit", over: 1),
        Device(.ethernet, "eth0.5", kind: "vlan", over: 1, deviceType: "vlan"),
        Device(.ethernet, "mv0", kind: "macvlan", over: 1, driver: "macvlan"),
        Device(.ethernet, "mv0", kind: "macvlan", over: 3, elsewhere: true, driver: "macvlan"),
        Device(.ethernet, "tap1", kind: "macvtap", over: 1),
        Device(.ethernet, "iv0", kind: "ipvlan", over: 1),
        Device(.ethernet, "ivt0", kind: "ipvtap", over: 1),
        Device(.ethernet, "ms0", kind: "macsec", over: 1),
        Device(.ethernet, "hsr0", kind: "hsr"),
        Device(.ethernet, "lan1", kind: "dsa", over: 1),
        Device(.ethernet, "ib0", kind: "ipoib", type: 32),
        Device(.wiredVirtual, "bond0", kind: "bond", deviceType: "bond"),
        Device(.wiredVirtual, "team0", kind: "team"),
        Device(.wiredVirtual, "br0", kind: "bridge", deviceType: "bridge"),
        Device(.tunnel, "wg0", kind: "wireguard", type: 65534, deviceType: "wireguard", driver: "wireguard"),
        Device(.tunnel, "tun0", kind: "tun", type: 65534, driver: "tun"),
        Device(.tunnel, "tap0", kind: "tun", driver: "tun"),
        Device(.wwan, "tun1", kind: "tun", type: 512, driver: "tun"),
        Device(.wwan, "tun2", kind: "tun", type: 519, driver: "tun"),
        Device(.tunnel, "ppp0", kind: "ppp", type: 512, deviceType: "ppp", driver: "ppp"),
        Device(.wwan, "wwan0", kind: "ppp", type: 512),
        Device(.tunnel, "gre1", kind: "gre", type: 778),
        Device(.tunnel, "ipip1", kind: "ipip", type: 768),
        Device(.tunnel, "sit1", kind: "sit", type: 776),
        Device(.tunnel, "ip6tnl1", kind: "ip6tnl", type: 769),
        Device(.tunnel, "ip6gre1", kind: "ip6gre", type: 823),
        Device(.tunnel, "vti1", kind: "vti", type: 768),
        Device(.tunnel, "gretap1", kind: "gretap", over: 1),
        Device(.tunnel, "vxlan1", kind: "vxlan", over: 1),
        Device(.tunnel, "geneve1", kind: "geneve"),
        Device(.tunnel, "xfrm1", kind: "xfrm", type: 65534, over: 1),
        Device(.tunnel, "gtp0", kind: "gtp", type: 65534),
        Device(.tunnel, "ovpn0", kind: "ovpn", type: 65534),
        Device(.other, "vrf0", kind: "vrf", driver: "vrf"),
        Device(.other, "dummy0", kind: "dummy"),
        Device(.other, "ifb0", kind: "ifb"),
        Device(.other, "nlmon0", kind: "nlmon", type: 824),
        Device(.other, "vcan0", kind: "vcan", type: 280),
        // The name of a modem must not override a kind.
        Device(.other, "wwan7", kind: "nobody-knows"),
        Device(.tunnel, "old-ppp", type: 512),
        Device(.tunnel, "old-ipip", type: 768),
        Device(.tunnel, "old-ip6tnl", type: 769),
        Device(.tunnel, "old-sit", type: 776),
        Device(.tunnel, "old-gre", type: 778),
        Device(.tunnel, "old-ip6gre", type: 823),
        Device(.other, "mon0", type: 803, deviceType: "wlan", role: .monitor, isUplink: false),
    ]

    /// Devices that are classified by their hardware.
    static let physical: [Device] = [
        Device(.ethernet, "eth0", bus: "virtio", driver: "virtio_net"),
        Device(.ethernet, "enp3s0", bus: "pci", driver: "e1000e"),
        Device(.ethernet, "ib1", type: 32, bus: "pci"),
        Device(.ethernet, "enx1", bus: "usb", driver: "rndis_host"),
        Device(.ethernet, "usb0", bus: "usb", driver: "cdc_ether"),
        Device(.wiFi, "wlan0", bus: "pci", deviceType: "wlan", driver: "iwlwifi", role: .station),
        Device(.wiFi, "wlan1", deviceType: "wlan", driver: "mac80211_hwsim", role: WirelessRole(rawValue: 7)),
        Device(.wwan, "wwan0", bus: "usb", deviceType: "wwan", driver: "cdc_ncm"),
        Device(.wwan, "modem0", bus: "usb", deviceType: "wwan", driver: "qmi_wwan"),
        Device(.wwan, "modem0", type: 65534, bus: "usb", deviceType: "wwan", driver: "qmi_wwan"),
        Device(.wwan, "modem1", bus: "usb", deviceType: "wwan", driver: "cdc_mbim"),
        Device(.wwan, "modem2", bus: "pci", driver: "mhi_net"),
        Device(.wwan, "qmimux0", type: 65534),
        Device(.wwan, "wwp0s20u4", bus: "usb", deviceType: "wwan", driver: "cdc_ncm"),
        Device(.wwan, "ccmni0"),
        Device(.tunnel, "l2tpeth0", deviceType: "l2tpeth"),
        Device(.other, "can0", type: 280, bus: "spi"),
        Device(.other, "none0", type: 65534),
    ]
}
