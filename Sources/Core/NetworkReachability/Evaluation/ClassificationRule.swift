package import Netlink

/// What an interface is, and what that means for a path through it.
package struct InterfaceClass: Hashable, Sendable {
    /// The word for people.
    package var type: InterfaceType
    /// Whether packets leave through a modem: the interface is a modem, or runs over one according to its links.
    package var isWWAN: Bool
    /// Whether the interface may lead to other networks. False only for Wi-Fi that serves others or merely listens:
    /// access points, group owners, monitors.
    package var isUplink: Bool

    package init(type: InterfaceType, isWWAN: Bool, isUplink: Bool = true) {
        self.type = type
        self.isWWAN = isWWAN
        self.isUplink = isUplink
    }

    /// A class that follows from its type alone.
    package init(_ type: InterfaceType, isUplink: Bool = true) {
        self.init(type: type, isWWAN: type == .wwan, isUplink: isUplink)
    }
}

extension InterfaceClass {
    /// The class of a link without a kind, by its device: the last lines of the decision list.
    init(_ link: Link, _ hardware: LinkHardware) {
        if let role = hardware.wireless {
            self.init(.wiFi, isUplink: role.isUplink)
        } else if hardware.deviceType == "wlan" {
            self.init(.wiFi)
        } else if hardware.deviceType == "wwan" || hardware.hasModemDriver || link.hasModemName || link.isRawIPDevice {
            self.init(.wwan)
        } else if hardware.deviceType == "l2tpeth" || link.hasL2TPName {
            // Its device has no kind, looks like ethernet, and sends its frames inside of L2TP.
            self.init(.tunnel)
        } else if link.hardwareType == .ethernet || link.hardwareType == .infiniband {
            self.init(.ethernet)
        } else {
            self.init(.other)
        }
    }
}

extension Link {
    /// A hardware device without link-layer frames: modems in raw IP mode are the only ones.
    fileprivate var isRawIPDevice: Bool { hardwareType == .none && parentBus != nil }
}

extension WirelessRole {
    /// Whether an interface in this role joins a network instead of making or watching one.
    fileprivate var isUplink: Bool {
        switch self {
        case .accessPoint, .accessPointVLAN, .peerGroupOwner, .monitor: false
        default: true
        }
    }
}

extension Link {
    /// Whether the name is one that the kernel, udev or a vendor gives to modems only (`systemd.net-naming-scheme(7)`).
    /// `ppp` names are not: DSL uses them too.
    var hasModemName: Bool {
        ["wwan", "wwx", "wwp", "wws", "rmnet", "ccmni", "qmimux"].contains { name.hasPrefix($0) }
    }
}

extension LinkHardware {
    /// Whether the driver serves modems only. `cdc_ncm`, `cdc_ether` and `rndis_host` do not: they also serve ethernet
    /// adapters and the tethers of phones.
    var hasModemDriver: Bool {
        guard let driver else { return false }
        switch driver {
        case "qmi_wwan", "cdc_mbim", "huawei_cdc_ncm", "sierra_net", "hso", "iosm", "mtk_t7xx", "GobiNet": return true
        default: return driver.hasPrefix("mhi_")
        }
    }
}

/// The method to find the class of a link: from the link alone, or from another link or device.
///
/// The first line of the decision list that fits wins. A link with a kind never gets to the hardware: an unknown kind of
/// software device must not pass for a wire.
enum ClassificationRule: Hashable, Sendable {
    /// The link says it all.
    case known(InterfaceClass)
    /// The type is known; the link it runs over is worth naming, but decides nothing (a modem's or Wi-Fi's own stacks).
    case stacked(InterfaceType)
    /// A tunnel, on a modem if the link it runs over is.
    case tunnel
    /// Whatever the link it runs over is; ethernet where that cannot be seen.
    case lower
    /// Whatever the active port of a bond or team is.
    case activePort
    /// Whatever a bridge's ports are, virtual ones not counted.
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
        // A tun device that was given ARPHRD_PPP plays a modem's link.
        case "tun": link.hardwareType == .ppp ? .known(InterfaceClass(.wwan)) : .tunnel
        // A ppp session runs over a modem or over DSL. Only its name distinguishes them.
        case "ppp": link.hasModemName ? .known(InterfaceClass(.wwan)) : .tunnel
        // An InfiniBand device has a kind although it is hardware; a partition of one runs over it.
        case "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "hsr", "dsa", "ipoib": .lower
        case "bond", "team", "batadv": .activePort
        case "bridge": .bridgePorts
        // Their IFLA_LINK is the other end of the pair, not a layer below.
        case "veth", "netkit": .known(InterfaceClass(.wiredVirtual))
        case _ where isTunnel(kind): .tunnel
        default: .known(InterfaceClass(.other))
        }
    }

    private static func ruleWithoutKind(of link: Link) -> ClassificationRule {
        switch link.hardwareType {
        case .ppp: link.hasModemName ? .known(InterfaceClass(.wwan)) : .tunnel
        case .ipip, .ip6Tunnel, .sit, .gre, .ip6GRE: .tunnel
        // Monitors see frames of others and carry no packets of ours.
        case .ieee80211, .ieee80211Prism, .ieee80211Radiotap: .known(InterfaceClass(.other, isUplink: false))
        default: .hardware
        }
    }

    /// Kinds of `ip-link(8)` whose packets travel inside others.
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
    /// Whether its packets travel inside others, to a far end that need not be the next hop. PPP is not a tunnel: its far end is the provider.
    package var isTunnel: Bool {
        if hardwareType == .ppp || kind == "ppp" { return false }
        return ClassificationRule(for: self) == .tunnel || kind == nil && hasL2TPName
    }

    /// Whether the kernel has named it as an interface of L2TP, which has no kind.
    var hasL2TPName: Bool { name.hasPrefix("l2tpeth") }
}
