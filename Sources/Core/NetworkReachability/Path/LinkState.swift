import LinuxPrimitives
import Netlink

/// What a verdict asks of a link. Plain bytes: it is asked for with every way that leads over the link, where copies of a
/// `Link` and its texts would cost more than the judging.
struct LinkState {
    let index: UInt32
    /// Maximum transmission unit in bytes.
    let mtu: UInt32
    /// Why no packet leaves through the link; nil when one does.
    let obstacle: Verdict.Cause?
    /// The other end of a tunnel, where that is in this network namespace and has to be reached.
    let remote: WireAddress?
    /// The device below, which all packets leave through: its carrier may be another.
    let lower: UInt32?
    /// What else is to be asked before packets are known to leave.
    let peculiarity: Peculiarity?
    let isLoopback: Bool

    init(_ link: Link) {
        index = link.index
        mtu = link.mtu
        obstacle = link.obstacle
        remote = link.lowerIsElsewhere ? nil : link.tunnelRemote
        lower = link.leavesByLower && !link.lowerIsElsewhere ? link.lowerIndex : nil
        peculiarity = Peculiarity(link)
        isLoopback = link.isLoopback
    }

    enum Peculiarity {
        /// Packets are routed once more, by the routes of the VRF.
        case vrf
        /// One of the ports has to have a carrier. A mesh itself always has one, a bridge until it gets its first port.
        case ports
        /// Whatever is sent through it is thrown away.
        case sink
        /// A link of a modem that names the device it stands on in sysfs only.
        case modemChannel

        init?(_ link: Link) {
            switch link.kind {
            case "vrf": self = .vrf
            case "batadv", "bridge": self = .ports
            case "dummy", "ifb": self = .sink
            case nil where link.isLoopback: self = .sink
            case nil where link.hardwareType == .none && link.parentBus == nil: self = .modemChannel
            default: return nil
            }
        }
    }

    var carriesPackets: Bool { !isLoopback && obstacle == nil }
}

extension Link {
    /// Why no packet leaves through this link; nil when one does. Judged by what is true when asked: IFF_UP and
    /// IFF_LOWER_UP. The operational state lags behind by up to a second, except for `dormant`.
    var obstacle: Verdict.Cause? {
        if !isUp { return .linkDown }
        if !hasCarrier { return .noCarrier }
        return isDormant ? .dormant : nil
    }

    /// Whether packets leave by IFLA_LINK whatever the routes are. Some of these follow its carrier by themselves; a VLAN with
    /// loose binding and the links of a modem do not. Of veth and netkit it is the other end.
    fileprivate var leavesByLower: Bool {
        switch kind {
        case "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "ipoib", "dsa", "rmnet", "virt_wifi", "vxlan":
            true
        default: false
        }
    }
}
