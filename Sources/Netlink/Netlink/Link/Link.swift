import CLinux
package import LinuxSupport

/// A network device as the kernel describes it.
///
/// C counterpart: `ifinfomsg` and `IFLA_*`, `rtnetlink(7)`.
package struct Link: Hashable, Sendable {
    /// The interface index, unique in its network namespace.
    package var index: UInt32
    package var name: String
    package var flags: LinkFlags
    package var operationalState = OperationalState.unknown
    /// A Boolean value that indicates whether a program, and not the carrier, determines when the link is operational
    /// (IFLA_LINKMODE), for example `wpa_supplicant` or 802.1X software.
    package var waitsForProgram = false
    package var hardwareType: HardwareType
    /// The maximum transmission unit in bytes.
    package var mtu: UInt32
    /// The link-layer address in network order; empty if the link has none.
    package var hardwareAddress: [UInt8]
    /// The driver's kind of a software device, for example `bridge`, `veth` or `tun`; nil for hardware
    /// (IFLA_INFO_KIND).
    package var kind: String?
    /// The index of the lower device, or of the other end of a pair (IFLA_LINK).
    package var lowerIndex: UInt32?
    /// A Boolean value that indicates whether `lowerIndex` belongs to another network namespace (IFLA_LINK_NETNSID).
    package var isLowerInOtherNamespace: Bool
    /// The index of the bridge, bond or VRF of which the device is a port (IFLA_MASTER).
    package var controllerIndex: UInt32?
    /// The index of the active port of a bond (IFLA_BOND_ACTIVE_SLAVE).
    package var activePortIndex: UInt32?
    /// The far end of a tunnel with a single far end.
    package var tunnelRemote: WireAddress?
    /// The configured source address of a tunnel's outer packets.
    package var tunnelLocal: WireAddress?
    /// The firewall mark of a tunnel's outer packets; 0 for none.
    package var tunnelMark: UInt32 = 0
    /// The identifier by which IPsec policies select an xfrm interface; 0 for none (IFLA_XFRM_IF_ID).
    package var policyIdentifier: UInt32 = 0
    /// The bus of the hardware behind the device, for example `usb` (IFLA_PARENT_DEV_BUS_NAME).
    package var parentBus: String?
    /// The number of carrier losses (IFLA_CARRIER_DOWN_COUNT). The driver counts a loss immediately. The message that
    /// reports it may arrive a second later, or not at all if the carrier has returned by then.
    package var carrierLosses: UInt32 = 0

    package init(
        index: UInt32,
        name: String,
        flags: LinkFlags,
        hardwareType: HardwareType = .ethernet,
        mtu: UInt32 = 1500,
        hardwareAddress: [UInt8] = [],
        kind: String? = nil,
        lowerIndex: UInt32? = nil,
        isLowerInOtherNamespace: Bool = false,
        controllerIndex: UInt32? = nil,
        activePortIndex: UInt32? = nil,
        parentBus: String? = nil
    ) {
        self.index = index
        self.name = name
        self.flags = flags
        self.hardwareType = hardwareType
        self.mtu = mtu
        self.hardwareAddress = hardwareAddress
        self.kind = kind
        self.lowerIndex = lowerIndex
        self.isLowerInOtherNamespace = isLowerInOtherNamespace
        self.controllerIndex = controllerIndex
        self.activePortIndex = activePortIndex
        self.parentBus = parentBus
    }
}

extension Link {
    package var isUp: Bool { flags.contains(.up) }
    package var hasCarrier: Bool { flags.contains(.carrier) }
    /// A Boolean value that indicates whether the link waits for an external event. If a program determines the
    /// operational state, the kernel reports `dormant` some milliseconds after the carrier arrives (observed when Wi-Fi
    /// roams). Such a link counts as dormant until the program has set `up`.
    package var isDormant: Bool {
        flags.contains(.dormant) || operationalState == .dormant || waitsForProgram && operationalState != .up
    }

    package var isLoopback: Bool { flags.contains(.loopback) || hardwareType == .loopback }

    /// A Boolean value that indicates whether the link-layer address of the next hop must be resolved before packets
    /// leave (ARP, RFC 4861).
    package var resolvesNeighbours: Bool { !isLoopback && flags.isDisjoint(with: [.noARP, .pointToPoint]) }
}

/// The operational state of a link (RFC 2863). It is later than the carrier, so only `dormant` is used.
///
/// C counterpart: `IF_OPER_*` in `<linux/if.h>`.
package struct OperationalState: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let unknown = OperationalState(rawValue: 0)
    package static let down = OperationalState(rawValue: 2)
    package static let lowerLayerDown = OperationalState(rawValue: 3)
    package static let dormant = OperationalState(rawValue: 5)
    package static let up = OperationalState(rawValue: 6)
}

extension Link {
    /// Decodes an RTM_NEWLINK body; nil if it is truncated or is not about a device.
    init?(body: UnsafeRawBufferPointer) {
        guard let head = body.load(ifinfomsg.self, at: 0), head.ifi_index > 0 else { return nil }
        self.init(
            index: UInt32(head.ifi_index),
            name: "",
            flags: LinkFlags(rawValue: head.ifi_flags),
            hardwareType: HardwareType(rawValue: head.ifi_type)
        )
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<ifinfomsg>.size)) {
            switch type {
            case IFLA_IFNAME: name = value.text
            case IFLA_MTU: mtu = value.word ?? mtu
            case IFLA_ADDRESS: hardwareAddress = Array(value)
            case IFLA_OPERSTATE: operationalState = OperationalState(rawValue: value.first ?? 0)
            // IF_LINK_MODE_DORMANT.
            case IFLA_LINKMODE: waitsForProgram = value.first == 1
            case IFLA_LINK: lowerIndex = value.word.flatMap { $0 == 0 ? nil : $0 }
            case IFLA_LINK_NETNSID: isLowerInOtherNamespace = true
            case IFLA_MASTER: controllerIndex = value.word
            case IFLA_PARENT_DEV_BUS_NAME: parentBus = value.text
            case IFLA_CARRIER_DOWN_COUNT: carrierLosses = value.word ?? 0
            case IFLA_LINKINFO: readInformation(value)
            default: break
            }
        }
        guard !name.isEmpty else { return nil }
    }

    private mutating func readInformation(_ nest: UnsafeRawBufferPointer) {
        var data = UnsafeRawBufferPointer(start: nil, count: 0)
        for (type, value) in Attributes(nest) {
            switch type {
            case IFLA_INFO_KIND: kind = value.text
            case IFLA_INFO_DATA: data = value
            default: break
            }
        }
        guard let kind else { return }
        let tunnel = TunnelAttributes(of: kind)
        for (type, value) in Attributes(data) {
            switch (kind, type) {
            case ("bond", IFLA_BOND_ACTIVE_SLAVE): activePortIndex = value.word
            case ("xfrm", IFLA_XFRM_IF_ID): policyIdentifier = value.word ?? 0
            case ("vxlan", IFLA_VXLAN_LINK): lowerIndex = value.word.flatMap { $0 == 0 ? nil : $0 }
            case _ where type == tunnel?.mark: tunnelMark = value.word ?? 0
            default:
                // An unspecified or multicast address does not identify a single peer.
                let address = WireAddress(bytes: value).flatMap { $0.isUnspecified || $0.isMulticast ? nil : $0 }
                if tunnel?.remote.contains(type) == true { tunnelRemote = address }
                if tunnel?.local.contains(type) == true { tunnelLocal = address }
            }
        }
    }
}

/// The numbers of the attributes of a tunnel in IFLA_INFO_DATA. Each group of kinds has its own numbers.
struct TunnelAttributes {
    /// The addresses of the far end.
    var remote: [Int]
    /// The source addresses of the outer packets.
    var local: [Int] = []
    /// The index of the lower link.
    var link: Int?
    /// The firewall mark of the outer packets.
    var mark: Int?
}

extension TunnelAttributes {
    /// Returns nil for a kind that is not a tunnel or has no far end.
    init?(of kind: String) {
        switch kind {
        case "vxlan":
            self.init(
                remote: [IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6],
                local: [IFLA_VXLAN_LOCAL, IFLA_VXLAN_LOCAL6],
                link: IFLA_VXLAN_LINK
            )
        case "geneve": self.init(remote: [IFLA_GENEVE_REMOTE, IFLA_GENEVE_REMOTE6])
        case "ipip", "sit", "ip6tnl":
            self.init(
                remote: [IFLA_IPTUN_REMOTE],
                local: [IFLA_IPTUN_LOCAL],
                link: IFLA_IPTUN_LINK,
                mark: IFLA_IPTUN_FWMARK
            )
        case "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan":
            self.init(remote: [IFLA_GRE_REMOTE], local: [IFLA_GRE_LOCAL], link: IFLA_GRE_LINK, mark: IFLA_GRE_FWMARK)
        case "vti", "vti6":
            self.init(remote: [IFLA_VTI_REMOTE], local: [IFLA_VTI_LOCAL], link: IFLA_VTI_LINK, mark: IFLA_VTI_FWMARK)
        default: return nil
        }
    }
}

/// The flags of a link that determine whether packets can leave through it.
///
/// C counterpart: `IFF_*` in `<linux/if.h>`, `netdevice(7)`.
package struct LinkFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Administratively up (IFF_UP).
    package static let up = LinkFlags(rawValue: 1 << 0)
    /// A loopback device (IFF_LOOPBACK).
    package static let loopback = LinkFlags(rawValue: 1 << 3)
    /// The link has one peer (IFF_POINTOPOINT).
    package static let pointToPoint = LinkFlags(rawValue: 1 << 4)
    /// Operational (RFC 2863). Up to a second later than the carrier (IFF_RUNNING).
    package static let running = LinkFlags(rawValue: 1 << 6)
    /// Link-layer addresses are not resolved (IFF_NOARP).
    package static let noARP = LinkFlags(rawValue: 1 << 7)
    /// The driver detects carrier. Current at the time of a query (IFF_LOWER_UP).
    package static let carrier = LinkFlags(rawValue: 1 << 16)
    /// The driver waits for an external event (IFF_DORMANT).
    package static let dormant = LinkFlags(rawValue: 1 << 17)
}

/// The format of a link's frames, as an ARP hardware type.
///
/// C counterpart: `ARPHRD_*` in `<linux/if_arp.h>`.
package struct HardwareType: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let ethernet = HardwareType(rawValue: 1)
    package static let infiniband = HardwareType(rawValue: 32)
    package static let ppp = HardwareType(rawValue: 512)
    package static let rawIP = HardwareType(rawValue: 519)
    package static let ipip = HardwareType(rawValue: 768)
    package static let ip6Tunnel = HardwareType(rawValue: 769)
    package static let loopback = HardwareType(rawValue: 772)
    package static let sit = HardwareType(rawValue: 776)
    package static let gre = HardwareType(rawValue: 778)
    package static let ieee80211 = HardwareType(rawValue: 801)
    package static let ieee80211Prism = HardwareType(rawValue: 802)
    package static let ieee80211Radiotap = HardwareType(rawValue: 803)
    package static let ip6GRE = HardwareType(rawValue: 823)
    package static let none = HardwareType(rawValue: 65534)
}
