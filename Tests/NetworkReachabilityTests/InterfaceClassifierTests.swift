import Netlink
import Testing

@testable import NetworkReachability

@Suite struct InterfaceClassifierTests {
    @Test func `a link of a modem is one under any name, by what it stands on`() throws {
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
    func `software is told apart without asking for its hardware`(device: Device) {
        let links = FakeLinks([device.link, wire], hardware: [2: device.hardware])
        let found = links.classify(device.link)
        #expect(found.class.type == device.expected)
        #expect(found.class.isWWAN == (device.expected == .wwan))
        #expect(found.class.isUplink == device.isUplink)
        // A stack ends at the wire, whose own hardware is the only one asked for.
        #expect(found.hardwareQuestions == (found.underlying.isEmpty ? 0 : 1))
    }

    @Test(arguments: Device.physical, [true, false])
    func `hardware is told apart with and without sysfs`(device: Device, sysfs: Bool) {
        var hardware = device.hardware
        if !sysfs { hardware.deviceType = nil }
        let links = FakeLinks([device.link], hardware: [2: hardware])
        let found = links.classify(device.link)
        #expect(found.class == InterfaceClass(device.expected))
        #expect(found.underlying.isEmpty)
        #expect(found.hardwareQuestions == 1)
    }

    @Test(arguments: Device.physical.filter { $0.hardware.deviceType != nil })
    func `sysfs alone tells hardware apart`(device: Device) {
        let links = FakeLinks([device.link], hardware: [2: LinkHardware(deviceType: device.hardware.deviceType)])
        #expect(links.classify(2)?.class.type == device.expected)
    }

    @Test func `an interface of L2TP is a tunnel under any name`() {
        let links = FakeLinks([.fake(2, "wan0")], hardware: [2: LinkHardware(deviceType: "l2tpeth")])
        #expect(links.classify(2)?.class == InterfaceClass(.tunnel))
    }

    @Test(arguments: [WirelessRole.accessPoint, .accessPointVLAN, .peerGroupOwner, .monitor])
    func `Wi-Fi that serves others is no uplink`(role: WirelessRole) {
        let links = FakeLinks([.fake(2, "wlan0")], hardware: [2: LinkHardware(wireless: role, deviceType: "wlan")])
        #expect(links.classify(2)?.class == InterfaceClass(.wiFi, isUplink: false))
    }

    @Test func `drivers of modems are modems under any name`() {
        for driver in [
            "qmi_wwan", "cdc_mbim", "huawei_cdc_ncm", "sierra_net", "hso", "iosm", "mtk_t7xx", "mhi_wwan_mbim",
            "GobiNet",
        ] {
            let links = FakeLinks([.fake(2, "enx0")], hardware: [2: LinkHardware(driver: driver)])
            #expect(links.classify(2)?.class == InterfaceClass(.wwan), "\(driver)")
        }
    }

    @Test(arguments: ["vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "dsa"])
    func `a layer is what it runs over`(kind: String) {
        let links = FakeLinks(
            [.fake(1, "wlan0"), .fake(2, kind: kind, over: 1), .fake(3, "wwan0"), .fake(4, kind: kind, over: 3)],
            hardware: [1: LinkHardware(wireless: .accessPoint)]
        )
        #expect(links.classify(2)?.class == InterfaceClass(.wiFi, isUplink: false))
        #expect(links.classify(2)?.underlying == [1])
        #expect(links.classify(4)?.class == InterfaceClass(.wwan))
    }

    @Test func `a layer over another namespace or over nothing is ethernet`() {
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

    @Test func `a tunnel stays one and knows the modem below`() {
        let links = FakeLinks([
            .fake(1, "wwan0"), .fake(2, kind: "vxlan", over: 1), .fake(3, kind: "gretap", over: 2),
            .fake(4, kind: "vxlan", over: 1, elsewhere: true),
        ])
        #expect(links.classify(3)?.class == InterfaceClass(type: .tunnel, isWWAN: true))
        #expect(links.classify(3)?.underlying == [2, 1])
        #expect(links.classify(4)?.class == InterfaceClass(.tunnel))
    }

    @Test func `a modem's and a Wi-Fi's own layers are named`() {
        let links = FakeLinks([
            .fake(1, "eth0"), .fake(2, kind: "rmnet", type: .rawIP, over: 1), .fake(3, kind: "virt_wifi", over: 1),
        ])
        #expect(links.classify(2)?.class == InterfaceClass(.wwan))
        #expect(links.classify(2)?.underlying == [1])
        #expect(links.classify(3)?.class == InterfaceClass(.wiFi))
        #expect(links.classify(3)?.underlying == [1])
    }

    @Test func `the other end of a pair is not below it`() {
        let links = FakeLinks([.fake(1, "wwan0"), .fake(2, kind: "veth", over: 1), .fake(3, kind: "netkit", over: 1)])
        for index: UInt32 in 2...3 {
            #expect(links.classify(index)?.class == InterfaceClass(.wiredVirtual))
            #expect(links.classify(index)?.underlying == [])
            #expect(links.classify(index)?.linkQuestions == 0)
        }
    }
}
