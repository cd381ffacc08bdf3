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
    package var operationalState: OperationalState
    /// Whether a program and not the carrier determines when the link is operational (IFLA_LINKMODE): `wpa_supplicant`, 802.1X.
    package var waitsForProgram: Bool
    package var hardwareType: HardwareType
    /// Maximum transmission unit in bytes.
    package var mtu: UInt32
    /// The link-layer address in wire order; empty if the link has none.
    package var hardwareAddress: [UInt8]
    /// The driver's kind of a software device (`bridge`, `veth`, `tun` ...); nil for hardware (IFLA_INFO_KIND).
    package var kind: String?
    /// The device this one runs over or is paired with (IFLA_LINK).
    package var lowerIndex: UInt32?
    /// Whether `lowerIndex` counts in another network namespace (IFLA_LINK_NETNSID).
    package var lowerIsElsewhere: Bool
    /// The bridge, bond or VRF this device is a port of (IFLA_MASTER).
    package var controllerIndex: UInt32?
    /// The active port of a bond (IFLA_BOND_ACTIVE_SLAVE).
    package var activePortIndex: UInt32?
    /// The other end of a tunnel, where the device has a single one.
    package var tunnelRemote: WireAddress?
    /// The source address of a tunnel's outer packets, where it is configured.
    package var tunnelLocal: WireAddress?
    /// The firewall mark of a tunnel's outer packets; 0 for none.
    package var tunnelMark: UInt32 = 0
    /// The identifier by which IPsec policies choose an xfrm interface; 0 for none (IFLA_XFRM_IF_ID).
    package var policyIdentifier: UInt32 = 0
    /// The bus of the hardware behind the device, for example `usb` (IFLA_PARENT_DEV_BUS_NAME).
    package var parentBus: String?
    /// The number of times that the carrier was lost (IFLA_CARRIER_DOWN_COUNT). The driver counts at once; the message that reports a loss may
    /// come a second later, or not at all if the carrier is back by then.
    package var carrierLosses: UInt32

    package init(
        index: UInt32,
        name: String,
        flags: LinkFlags,
        operationalState: OperationalState = .unknown,
        waitsForProgram: Bool = false,
        hardwareType: HardwareType = .ethernet,
        mtu: UInt32 = 1500,
        hardwareAddress: [UInt8] = [],
        kind: String? = nil,
        lowerIndex: UInt32? = nil,
        lowerIsElsewhere: Bool = false,
        controllerIndex: UInt32? = nil,
        activePortIndex: UInt32? = nil,
        tunnelRemote: WireAddress? = nil,
        parentBus: String? = nil,
        carrierLosses: UInt32 = 0
    ) {
        self.index = index
        self.name = name
        self.flags = flags
        self.operationalState = operationalState
        self.waitsForProgram = waitsForProgram
        self.hardwareType = hardwareType
        self.mtu = mtu
        self.hardwareAddress = hardwareAddress
        self.kind = kind
        self.lowerIndex = lowerIndex
        self.lowerIsElsewhere = lowerIsElsewhere
        self.controllerIndex = controllerIndex
        self.activePortIndex = activePortIndex
        self.tunnelRemote = tunnelRemote
        self.parentBus = parentBus
        self.carrierLosses = carrierLosses
    }
}

extension Link {
    package var isUp: Bool { flags.contains(.up) }
    package var hasCarrier: Bool { flags.contains(.carrier) }
    /// Where a program says when the link is operational, the kernel calls it dormant some milliseconds after the carrier has
    /// come (seen when Wi-Fi roams): until the program has said `up` it waits, whatever the operational state is meanwhile.
    package var isDormant: Bool {
        flags.contains(.dormant) || operationalState == .dormant || waitsForProgram && operationalState != .up
    }

    package var isLoopback: Bool { flags.contains(.loopback) || hardwareType == .loopback }

    /// Whether the hardware address of the next router is resolved before packets leave (ARP, RFC 4861).
    package var asksForNeighbours: Bool { !isLoopback && flags.isDisjoint(with: [.noARP, .pointToPoint]) }
}

/// The RFC 2863 state of a link. It lags behind the carrier: only `dormant` is read from it.
///
/// C counterpart: `IF_OPER_*` in `<linux/if.h>`.
package struct OperationalState: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let unknown = OperationalState(rawValue: 0)
    package static let notPresent = OperationalState(rawValue: 1)
    package static let down = OperationalState(rawValue: 2)
    package static let lowerLayerDown = OperationalState(rawValue: 3)
    package static let testing = OperationalState(rawValue: 4)
    package static let dormant = OperationalState(rawValue: 5)
    package static let up = OperationalState(rawValue: 6)
}

extension Link {
    /// Reads an RTM_NEWLINK body; nil when it is truncated or no device's.
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
            case IFLA_LINK_NETNSID: lowerIsElsewhere = true
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
        for (type, value) in Attributes(data) {
            switch (kind, type) {
            case ("bond", IFLA_BOND_ACTIVE_SLAVE):
                activePortIndex = value.word
            case ("xfrm", IFLA_XFRM_IF_ID):
                policyIdentifier = value.word ?? 0
            case ("vxlan", IFLA_VXLAN_LINK):
                lowerIndex = value.word.flatMap { $0 == 0 ? nil : $0 }
            default: readTunnel(kind, type, value)
            }
        }
    }

    /// One attribute of a tunnel. Each group of kinds has numbers of its own.
    private mutating func readTunnel(_ kind: String, _ type: Int, _ value: UnsafeRawBufferPointer) {
        let numbers: (remote: [Int], local: [Int], mark: Int?)
        switch kind {
        case "vxlan":
            numbers = ([IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6], [IFLA_VXLAN_LOCAL, IFLA_VXLAN_LOCAL6], nil)
        case "geneve": numbers = ([IFLA_GENEVE_REMOTE, IFLA_GENEVE_REMOTE6], [], nil)
        case "ipip", "sit", "ip6tnl": numbers = ([IFLA_IPTUN_REMOTE], [IFLA_IPTUN_LOCAL], IFLA_IPTUN_FWMARK)
        case "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan":
            numbers = ([IFLA_GRE_REMOTE], [IFLA_GRE_LOCAL], IFLA_GRE_FWMARK)
        case "vti", "vti6": numbers = ([IFLA_VTI_REMOTE], [IFLA_VTI_LOCAL], IFLA_VTI_FWMARK)
        default: return
        }
        // An unspecified or multicast address names no single peer.
        let address = WireAddress(bytes: value).flatMap { $0.isUnspecified || $0.isMulticast ? nil : $0 }
        if numbers.remote.contains(type) {
            tunnelRemote = address
        } else if numbers.local.contains(type) {
            tunnelLocal = address
        } else if type == numbers.mark {
            tunnelMark = value.word ?? 0
        }
    }
}

/// The state bits of a link that decide whether packets can leave through it.
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
    /// One peer only (IFF_POINTOPOINT).
    package static let pointToPoint = LinkFlags(rawValue: 1 << 4)
    /// RFC 2863 operational; lags behind the carrier by up to a second (IFF_RUNNING).
    package static let running = LinkFlags(rawValue: 1 << 6)
    /// Hardware addresses are not resolved (IFF_NOARP).
    package static let noARP = LinkFlags(rawValue: 1 << 7)
    /// The driver sees a carrier, true at the moment it is asked for (IFF_LOWER_UP).
    package static let carrier = LinkFlags(rawValue: 1 << 16)
    /// The driver waits for an outside event (IFF_DORMANT).
    package static let dormant = LinkFlags(rawValue: 1 << 17)
}

/// The format of a link's frames: the number space of ARP hardware types.
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
