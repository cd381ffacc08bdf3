import Netlink

extension FakeKernel {
    /// The kind of a link of a fake kernel, with the properties that a real kernel would report.
    public struct LinkKind: Hashable, Sendable {
        var hardwareType = HardwareType.ethernet
        /// IFLA_INFO_KIND; nil for hardware.
        var driverKind: String?
        var hardware = LinkHardware()
        var parentBus: String?
        var flags: LinkFlags = []
        /// The operational state of a usable link. Many drivers never report `up`.
        var usableState = OperationalState.up
        var mtu: UInt32 = 1500
        var hasHardwareAddress = true
        var makesLinkLocalAddress = true
        /// Whether the link has carrier if its lower link has.
        var followsLower = false
        /// Whether the link has carrier if one of its ports has.
        var followsPorts = false
        /// The routing table of a VRF.
        var table: UInt32?

        /// The loopback device. Every fake kernel has one named `lo`.
        public static let loopback = LinkKind(
            hardwareType: .loopback,
            flags: .loopback,
            usableState: .unknown,
            mtu: 65536,
            makesLinkLocalAddress: false
        )

        /// A network card.
        public static let ethernet = LinkKind(parentBus: "pci")

        /// A Wi-Fi station.
        public static let wiFi = LinkKind(
            hardware: LinkHardware(wireless: .station, deviceType: "wlan"),
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

        /// One end of a virtual cable, as in containers.
        public static let veth = LinkKind(driverKind: "veth")

        /// A bridge. It has carrier if one of its ports has.
        public static let bridge = LinkKind(driverKind: "bridge", followsPorts: true)

        /// A bond. It has carrier if one of its ports has.
        public static let bond = LinkKind(driverKind: "bond", followsPorts: true)

        /// A VLAN. It has the carrier of its lower link.
        public static let vlan = LinkKind(driverKind: "vlan", followsLower: true)

        /// A VLAN with loose binding. It stays up and keeps its carrier regardless of its lower link.
        public static let looseVLAN = LinkKind(driverKind: "vlan")

        /// A link of a Qualcomm modem over its device (`rmnet`). It always has carrier.
        public static let rmnet = LinkKind(
            hardwareType: .rawIP,
            driverKind: "rmnet",
            usableState: .unknown,
            hasHardwareAddress: false,
            makesLinkLocalAddress: false
        )

        /// A mesh of batman-adv over its ports. It always has carrier.
        public static let mesh = LinkKind(driverKind: "batadv")

        /// A VRF with a separate routing table. It always has carrier.
        public static func vrf(table: UInt32) -> LinkKind {
            LinkKind(driverKind: "vrf", makesLinkLocalAddress: false, table: table)
        }

        /// A macvlan, a further address on a card. It has the carrier of its lower link.
        public static let macvlan = LinkKind(driverKind: "macvlan", followsLower: true)

        /// A tunnel served by a program, as most VPN clients are.
        public static let tun = LinkKind(
            hardwareType: .none,
            driverKind: "tun",
            flags: .pointToPoint,
            usableState: .unknown,
            hasHardwareAddress: false
        )

        /// A WireGuard tunnel. It always has carrier.
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

        /// An IPsec tunnel. It always has carrier.
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

        /// A VXLAN tunnel. It always has carrier.
        public static let vxlan = LinkKind(driverKind: "vxlan", usableState: .unknown, mtu: 1450)

        /// A device that discards packets.
        public static let dummy = LinkKind(driverKind: "dummy", usableState: .unknown)
    }
}
