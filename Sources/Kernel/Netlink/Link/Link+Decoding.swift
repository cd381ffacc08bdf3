import CLinux
import LinuxPrimitives

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
            case ("vxlan", IFLA_VXLAN_LINK):
                lowerIndex = value.word.flatMap { $0 == 0 ? nil : $0 }
            case ("vxlan", IFLA_VXLAN_GROUP), ("vxlan", IFLA_VXLAN_GROUP6),
                ("geneve", IFLA_GENEVE_REMOTE), ("geneve", IFLA_GENEVE_REMOTE6),
                ("ipip", IFLA_IPTUN_REMOTE), ("sit", IFLA_IPTUN_REMOTE), ("ip6tnl", IFLA_IPTUN_REMOTE),
                ("gre", IFLA_GRE_REMOTE), ("gretap", IFLA_GRE_REMOTE),
                ("ip6gre", IFLA_GRE_REMOTE), ("ip6gretap", IFLA_GRE_REMOTE):
                // An unspecified or multicast remote names no single peer.
                tunnelRemote = WireAddress(bytes: value).flatMap { $0.isUnspecified || $0.isMulticast ? nil : $0 }
            default: break
            }
        }
    }
}
