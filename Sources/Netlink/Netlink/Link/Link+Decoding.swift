import CLinux
import LinuxSupport

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
