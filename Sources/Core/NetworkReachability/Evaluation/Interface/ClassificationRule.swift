package import Netlink

/// What a link's own words say about how to find its class: by themselves, or by whom to ask next.
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
    /// Only the device can tell.
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
        // A ppp session runs over a modem or over DSL; only its name may tell.
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
    /// Whether its packets travel inside of others, to a far end that need not be the next hop. PPP is none: its other end is the provider.
    package var isTunnel: Bool {
        if hardwareType == .ppp || kind == "ppp" { return false }
        return ClassificationRule(for: self) == .tunnel || kind == nil && hasL2TPName
    }

    /// Whether the kernel has named it as an interface of L2TP, which has no kind.
    var hasL2TPName: Bool { name.hasPrefix("l2tpeth") }
}
