package import Netlink

/// The class of an interface, and its meaning for a path through the interface.
package struct InterfaceClass: Hashable, Sendable {
    /// The type that is shown to users.
    package var type: InterfaceType
    /// A Boolean value that indicates whether packets leave through a cellular modem: the interface is a modem, or its
    /// links show that it runs over one.
    package var isWWAN: Bool
    /// A Boolean value that indicates whether the interface can lead to other networks. False only for Wi-Fi interfaces
    /// in the role of an access point, a group owner or a monitor.
    package var isUplink: Bool

    package init(type: InterfaceType, isWWAN: Bool, isUplink: Bool = true) {
        self.type = type
        self.isWWAN = isWWAN
        self.isUplink = isUplink
    }

    /// Creates a class that follows from the type alone.
    package init(_ type: InterfaceType, isUplink: Bool = true) {
        self.init(type: type, isWWAN: type == .wwan, isUplink: isUplink)
    }
}

extension InterfaceClass {
    /// Creates the class of a link without a kind from its device. These are the last rules of the decision list.
    init(_ link: Link, _ hardware: LinkHardware) {
        if let role = hardware.wireless {
            self.init(.wiFi, isUplink: role.isUplink)
        } else if hardware.deviceType == "wlan" {
            self.init(.wiFi)
        } else if hardware.deviceType == "wwan" || hardware.hasModemDriver || link.hasModemName || link.isRawIPDevice {
            self.init(.wwan)
        } else if hardware.deviceType == "l2tpeth" || link.hasL2TPName {
            // The device of L2TP has no kind, has the type of an ethernet device, and sends its frames inside L2TP.
            self.init(.tunnel)
        } else if link.hardwareType == .ethernet || link.hardwareType == .infiniband {
            self.init(.ethernet)
        } else {
            self.init(.other)
        }
    }
}

extension Link {
    /// A Boolean value that indicates whether the link is a hardware device without link-layer frames. Only modems in
    /// raw IP mode are.
    fileprivate var isRawIPDevice: Bool { hardwareType == .none && parentBus != nil }
}

extension WirelessRole {
    /// A Boolean value that indicates whether an interface in this role joins a network, instead of providing or
    /// monitoring one.
    fileprivate var isUplink: Bool {
        switch self {
        case .accessPoint, .accessPointVLAN, .peerGroupOwner, .monitor: false
        default: true
        }
    }
}

extension Link {
    /// A Boolean value that indicates whether the kernel, udev or a vendor gives the name only to modems
    /// (`systemd.net-naming-scheme(7)`). `ppp` names are not included, because DSL uses them too.
    var hasModemName: Bool {
        ["wwan", "wwx", "wwp", "wws", "rmnet", "ccmni", "qmimux"].contains { name.hasPrefix($0) }
    }
}

extension LinkHardware {
    /// A Boolean value that indicates whether the driver is only for modems. `cdc_ncm`, `cdc_ether` and `rndis_host`
    /// are not included, because ethernet adapters and phones also use them.
    var hasModemDriver: Bool {
        guard let driver else { return false }
        switch driver {
        case "qmi_wwan", "cdc_mbim", "huawei_cdc_ncm", "sierra_net", "hso", "iosm", "mtk_t7xx", "GobiNet": return true
        default: return driver.hasPrefix("mhi_")
        }
    }
}

/// The rule that determines the class of a link: from the link alone, or from another link or the device.
///
/// The first matching rule of the decision list applies. A link with a kind is never classified by its hardware, so
/// that a software device of an unknown kind does not count as ethernet.
enum ClassificationRule: Hashable, Sendable {
    /// The link itself determines the class.
    case known(InterfaceClass)
    /// The type is known. The link below is listed, but does not influence the class (links of a modem or of Wi-Fi).
    case stacked(InterfaceType)
    /// A tunnel. It is WWAN if the link that carries it is WWAN.
    case tunnel
    /// The class of the link below; ethernet if that link is not visible.
    case lower
    /// The class of the active port of a bond or team.
    case activePort
    /// The class of the ports of a bridge, without virtual ports.
    case bridgePorts
    /// The device determines the class.
    case hardware

    init(for link: Link) {
        self =
            if link.isLoopback {
                .known(InterfaceClass(.loopback))
            } else if link.hardwareType == .rawIP {
                .stacked(.wwan)
            } else if let kind = link.kind {
                Self.rule(kind: kind, of: link)
            } else {
                Self.ruleWithoutKind(of: link)
            }
    }

    private static func rule(kind: String, of link: Link) -> ClassificationRule {
        switch kind {
        case "wwan", "rmnet": .stacked(.wwan)
        case "virt_wifi": .stacked(.wiFi)
        // A tun device that was given ARPHRD_PPP simulates the link of a modem.
        case "tun": link.hardwareType == .ppp ? .known(InterfaceClass(.wwan)) : .tunnel
        // A ppp session runs over a modem or over DSL. Only its name distinguishes them.
        case "ppp": link.hasModemName ? .known(InterfaceClass(.wwan)) : .tunnel
        // An InfiniBand device has a kind although it is hardware. A partition runs over it.
        case "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "hsr", "dsa", "ipoib": .lower
        case "bond", "team", "batadv": .activePort
        case "bridge": .bridgePorts
        // The IFLA_LINK of these kinds is the other end of the pair, not a lower layer.
        case "veth", "netkit": .known(InterfaceClass(.wiredVirtual))
        case _ where isTunnel(kind): .tunnel
        default: .known(InterfaceClass(.other))
        }
    }

    private static func ruleWithoutKind(of link: Link) -> ClassificationRule {
        switch link.hardwareType {
        case .ppp: link.hasModemName ? .known(InterfaceClass(.wwan)) : .tunnel
        case .ipip, .ip6Tunnel, .sit, .gre, .ip6GRE: .tunnel
        // Monitor interfaces receive frames of others and carry no packets of this machine.
        case .ieee80211, .ieee80211Prism, .ieee80211Radiotap: .known(InterfaceClass(.other, isUplink: false))
        default: .hardware
        }
    }

    /// Returns whether links of this kind (`ip-link(8)`) encapsulate their packets in other packets.
    private static func isTunnel(_ kind: String) -> Bool {
        switch kind {
        case "wireguard", "ipip", "sit", "erspan", "xfrm", "vxlan", "geneve", "gtp", "bareudp", "amt", "pfcp", "ovpn",
            "ovpn-dco":
            true
        default:
            // gre, gretap; ip6tnl, ip6gre, ip6gretap, ip6erspan; vti, vti6.
            kind.hasPrefix("gre") || kind.hasPrefix("ip6") || kind.hasPrefix("vti")
        }
    }
}

extension Link {
    /// A Boolean value that indicates whether the link encapsulates its packets in others, sent to a far end that need
    /// not be the next hop. PPP is not a tunnel, because its far end is the provider.
    package var isTunnel: Bool {
        if hardwareType == .ppp || kind == "ppp" { return false }
        return ClassificationRule(for: self) == .tunnel || kind == nil && hasL2TPName
    }

    /// A Boolean value that indicates whether the kernel named the link as an L2TP interface, which has no kind.
    var hasL2TPName: Bool { name.hasPrefix("l2tpeth") }
}
