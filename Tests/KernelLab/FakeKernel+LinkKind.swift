import Netlink

extension FakeKernel {
    /// What a link of a fake kernel is, as the real kernel would describe it.
    public struct LinkKind: Hashable, Sendable {
        var hardwareType = HardwareType.ethernet
        /// IFLA_INFO_KIND; nil for hardware.
        var driverKind: String?
        var hardware = LinkHardware()
        var parentBus: String?
        var flags: LinkFlags = []
        /// The operational state of a link that works; many drivers never say `up`.
        var usableState = OperationalState.up
        var mtu: UInt32 = 1500
        var hasHardwareAddress = true
        var makesLinkLocalAddress = true
        /// Has a carrier when the link below has one.
        var followsLower = false
        /// Has a carrier when one of its ports has one.
        var followsPorts = false
        /// The routing table of a VRF.
        var table: UInt32?

        /// The loopback device; every fake kernel has one named `lo`.
        public static let loopback = LinkKind(
            hardwareType: .loopback,
            flags: .loopback,
            usableState: .unknown,
            mtu: 65536,
            makesLinkLocalAddress: false
        )

        /// A network card.
        public static let ethernet = LinkKind(parentBus: "pci")

        /// A network adapter at a USB port, which may as well be a phone.
        public static let usbEthernet = LinkKind(hardware: LinkHardware(driver: "cdc_ether"), parentBus: "usb")

        /// A Wi-Fi station.
        public static let wiFi = LinkKind(
            hardware: LinkHardware(wireless: .station, deviceType: "wlan"),
            parentBus: "pci"
        )

        /// Wi-Fi that serves others, not an uplink.
        public static let wiFiAccessPoint = LinkKind(
            hardware: LinkHardware(wireless: .accessPoint, deviceType: "wlan"),
            parentBus: "pci"
        )

        /// A modem behind the kernel's wwan subsystem.
        public static let wwan = LinkKind(
            hardwareType: .none,
            driverKind: "wwan",
            hardware: LinkHardware(deviceType: "wwan", driver: "wwan"),
            flags: .pointToPoint,
            usableState: .unknown,
            hasHardwareAddress: false
        )

        /// A modem at a USB port that looks like a network card (`qmi_wwan`).
        public static let usbModem = LinkKind(
            hardware: LinkHardware(deviceType: "wwan", driver: "qmi_wwan"),
            parentBus: "usb",
            usableState: .unknown
        )

        /// One end of a virtual cable, as containers have it.
        public static let veth = LinkKind(driverKind: "veth")

        /// A bridge; it has the carrier of its ports.
        public static let bridge = LinkKind(driverKind: "bridge", followsPorts: true)

        /// A bond; it has the carrier of its ports.
        public static let bond = LinkKind(driverKind: "bond", followsPorts: true)

        /// A VLAN; it has the carrier of the link below.
        public static let vlan = LinkKind(driverKind: "vlan", followsLower: true)

        /// A VLAN with loose binding; it stays up and keeps its carrier, whatever the link below does.
        public static let looseVLAN = LinkKind(driverKind: "vlan")

        /// A link of a Qualcomm modem over its device (`rmnet`); it always has a carrier.
        public static let rmnet = LinkKind(
            hardwareType: .rawIP,
            driverKind: "rmnet",
            usableState: .unknown,
            hasHardwareAddress: false,
            makesLinkLocalAddress: false
        )

        /// A mesh of batman-adv over its ports; it always has a carrier.
        public static let mesh = LinkKind(driverKind: "batadv")

        /// A VRF with a routing table of its own; it always has a carrier.
        public static func vrf(table: UInt32) -> LinkKind {
            LinkKind(driverKind: "vrf", makesLinkLocalAddress: false, table: table)
        }

        /// A further address on a card; it has the carrier of the link below.
        public static let macvlan = LinkKind(driverKind: "macvlan", followsLower: true)

        /// A tunnel served by a program, as most VPN clients are.
        public static let tun = LinkKind(
            hardwareType: .none,
            driverKind: "tun",
            flags: .pointToPoint,
            usableState: .unknown,
            hasHardwareAddress: false
        )

        /// A WireGuard tunnel; it always has a carrier.
        public static let wireGuard = LinkKind(
            hardwareType: .none,
            driverKind: "wireguard",
            hardware: LinkHardware(deviceType: "wireguard"),
            flags: .pointToPoint,
            usableState: .unknown,
            mtu: 1420,
            hasHardwareAddress: false,
            makesLinkLocalAddress: false
        )

        /// An IPsec tunnel; it always has a carrier.
        public static let xfrm = LinkKind(
            hardwareType: .none,
            driverKind: "xfrm",
            flags: .noARP,
            usableState: .unknown,
            hasHardwareAddress: false,
            makesLinkLocalAddress: false
        )

        /// A point-to-point connection over a serial line, PPPoE or a modem.
        public static let ppp = LinkKind(
            hardwareType: .ppp,
            driverKind: "ppp",
            flags: .pointToPoint,
            usableState: .unknown,
            hasHardwareAddress: false,
            makesLinkLocalAddress: false
        )

        /// A VXLAN tunnel; it always has a carrier.
        public static let vxlan = LinkKind(driverKind: "vxlan", usableState: .unknown, mtu: 1450)

        /// A device that goes nowhere.
        public static let dummy = LinkKind(driverKind: "dummy", usableState: .unknown)
    }
}
