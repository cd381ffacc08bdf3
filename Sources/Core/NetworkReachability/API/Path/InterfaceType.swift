/// What kind of network an interface is on.
public enum InterfaceType: String, Hashable, Sendable, CaseIterable, Codable {
    /// A wired ethernet device.
    case ethernet
    /// A Wi-Fi device (nl80211).
    case wiFi
    /// A modem: wireless wide area network, cellular.
    case wwan
    /// Software that stands for a wire: veth, netkit, a bridge of them.
    case wiredVirtual = "wired-virtual"
    /// A tunnel or VPN: WireGuard, tun, ppp, gre, vxlan and their kin.
    case tunnel
    /// The loopback interface.
    case loopback
    /// Anything else.
    case other
}
