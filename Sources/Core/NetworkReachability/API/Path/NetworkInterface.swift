import LinuxSupport

/// The interface that packets leave through.
public struct NetworkInterface: Hashable, Sendable, Codable {
    /// The number the kernel knows it by; a device that goes and comes back has a new one.
    public var index: UInt32

    /// Its name, for example `eth0`; a device may be renamed while it is up.
    public var name: String

    /// What kind of network it is on. For a VLAN, a bridge or a bond this is the type of what it runs over.
    public var type: InterfaceType

    /// What it runs over, from the next layer down to the last: the port of a bridge or bond, the parent of a VLAN or
    /// macvlan, the carrier of a tunnel. Empty for a plain device, and where the kernel does not tell.
    public var underlying: [NetworkInterface]

    package init(index: UInt32, name: String, type: InterfaceType, underlying: [NetworkInterface] = []) {
        self.index = index
        self.name = name
        self.type = type
        self.underlying = underlying
    }
}

extension NetworkInterface: CustomStringConvertible {
    /// The name, and the names of what it runs over: `br0/eth0`. The kernel takes nearly any name: what would steer a terminal is shown
    /// as `\u{1b}`.
    public var description: String {
        ([name] + underlying.map(\.name)).joined(separator: "/").printable
    }
}

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
