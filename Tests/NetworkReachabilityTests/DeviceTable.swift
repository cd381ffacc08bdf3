import Netlink
import Testing

@testable import NetworkReachability

/// A device as the kernel shows it, each seen on a real driver, and what it is to be taken for.
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

    /// Devices whose own words suffice.
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
        // The name of a modem must not outweigh a kind.
        Device(.other, "wwan7", kind: "nobody-knows"),
        Device(.tunnel, "old-ppp", type: 512),
        Device(.tunnel, "old-ipip", type: 768),
        Device(.tunnel, "old-ip6tnl", type: 769),
        Device(.tunnel, "old-sit", type: 776),
        Device(.tunnel, "old-gre", type: 778),
        Device(.tunnel, "old-ip6gre", type: 823),
        Device(.other, "mon0", type: 803, deviceType: "wlan", role: .monitor, isUplink: false),
    ]

    /// Devices that only their hardware tells apart.
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
