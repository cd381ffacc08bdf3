package import LinuxSupport

/// What the kernel says of one network device.
///
/// C counterpart: `ifinfomsg` and `IFLA_*`, `rtnetlink(7)`.
package struct Link: Hashable, Sendable {
    /// The interface index, unique in its network namespace.
    package var index: UInt32
    package var name: String
    package var flags: LinkFlags
    package var operationalState: OperationalState
    /// Whether a program, not the carrier, says when the link is operational (IFLA_LINKMODE): `wpa_supplicant`, 802.1X.
    package var waitsForProgram: Bool
    package var hardwareType: HardwareType
    /// Maximum transmission unit in bytes.
    package var mtu: UInt32
    /// The link-layer address as sent, empty where there is none.
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

    /// Whether the hardware address of the next router is asked for before packets leave (ARP, RFC 4861).
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
