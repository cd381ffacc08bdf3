import CLinux

/// What is known to tell nothing of whose network it is, or how to replace it. Everything else becomes zeros.
extension MessageRedaction.Rule {
    static func link(_ type: Int) -> MessageRedaction.Rule {
        switch type {
        case IFLA_ADDRESS, IFLA_BROADCAST, IFLA_PERM_ADDRESS: .hardware
        case IFLA_LINKINFO: .linkInformation
        case IFLA_IFNAME, IFLA_MTU, IFLA_OPERSTATE, IFLA_LINK, IFLA_MASTER, IFLA_LINK_NETNSID,
            IFLA_PARENT_DEV_BUS_NAME, IFLA_TXQLEN, IFLA_LINKMODE, IFLA_CARRIER, IFLA_GROUP, IFLA_EXT_MASK,
            IFLA_CARRIER_CHANGES, IFLA_PROTO_DOWN, IFLA_EVENT:
            .keep
        default: .zero
        }
    }

    static func linkInformation(_ type: Int, _ kind: String) -> MessageRedaction.Rule {
        switch type {
        case IFLA_INFO_KIND, IFLA_INFO_SLAVE_KIND: .keep
        case IFLA_INFO_DATA: .nest { linkData($0, kind) }
        default: .zero
        }
    }

    private static func linkData(_ type: Int, _ kind: String) -> MessageRedaction.Rule {
        switch kind {
        case "bond" where type == IFLA_BOND_ACTIVE_SLAVE, "vlan" where type == IFLA_VLAN_ID: .keep
        case "vxlan":
            switch type {
            case IFLA_VXLAN_LINK: .keep
            case IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6, IFLA_VXLAN_LOCAL, IFLA_VXLAN_LOCAL6: .address
            default: .zero
            }
        case "geneve" where type == IFLA_GENEVE_REMOTE || type == IFLA_GENEVE_REMOTE6: .address
        case "ipip", "sit", "ip6tnl":
            tunnel(type, [IFLA_IPTUN_REMOTE, IFLA_IPTUN_LOCAL], [IFLA_IPTUN_LINK, IFLA_IPTUN_FWMARK])
        case "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan":
            tunnel(type, [IFLA_GRE_REMOTE, IFLA_GRE_LOCAL], [IFLA_GRE_LINK, IFLA_GRE_FWMARK])
        case "vti", "vti6": tunnel(type, [IFLA_VTI_REMOTE, IFLA_VTI_LOCAL], [IFLA_VTI_LINK, IFLA_VTI_FWMARK])
        default: .zero
        }
    }

    private static func tunnel(_ type: Int, _ addresses: [Int], _ kept: [Int]) -> MessageRedaction.Rule {
        addresses.contains(type) ? .address : kept.contains(type) ? .keep : .zero
    }

    static func address(_ type: Int) -> MessageRedaction.Rule {
        switch type {
        case Int(IFA_ADDRESS), Int(IFA_LOCAL), Int(IFA_BROADCAST), Int(IFA_ANYCAST), Int(IFA_MULTICAST): .address
        case Int(IFA_LABEL), Int(IFA_CACHEINFO), Int(IFA_FLAGS), Int(IFA_RT_PRIORITY): .keep
        default: .zero
        }
    }

    static func route(_ type: Int, _ destination: Int, _ source: Int) -> MessageRedaction.Rule {
        switch rtattr_type_t(UInt32(type)) {
        case RTA_DST: .prefix(destination)
        case RTA_SRC: .prefix(source)
        case RTA_GATEWAY, RTA_PREFSRC: .address
        case RTA_VIA: .via
        case RTA_MULTIPATH: .nextHops
        case RTA_IIF, RTA_OIF, RTA_PRIORITY, RTA_METRICS, RTA_CACHEINFO, RTA_TABLE, RTA_MARK, RTA_PREF,
            RTA_EXPIRES, RTA_NH_ID, RTA_IP_PROTO:
            .keep
        default: .zero
        }
    }

    static func nextHopOfRoute(_ type: Int) -> MessageRedaction.Rule {
        switch rtattr_type_t(UInt32(type)) {
        case RTA_GATEWAY: .address
        case RTA_VIA: .via
        default: .zero
        }
    }

    static func policy(_ type: Int, _ destination: Int, _ source: Int) -> MessageRedaction.Rule {
        switch type {
        case Int(FRA_DST): .prefix(destination)
        case Int(FRA_SRC): .prefix(source)
        case Int(FRA_IIFNAME), Int(FRA_OIFNAME), Int(FRA_GOTO), Int(FRA_PRIORITY), Int(FRA_FWMARK), Int(FRA_FWMASK),
            Int(FRA_TABLE), Int(FRA_SUPPRESS_IFGROUP), Int(FRA_SUPPRESS_PREFIXLEN), Int(FRA_L3MDEV),
            Int(FRA_PROTOCOL), Int(FRA_IP_PROTO):
            .keep
        default: .zero
        }
    }

    static func nextHop(_ type: Int) -> MessageRedaction.Rule {
        switch type {
        case NHA_GATEWAY: .address
        case NHA_ID, NHA_GROUP, NHA_GROUP_TYPE, NHA_BLACKHOLE, NHA_OIF: .keep
        default: .zero
        }
    }
    static func neighbour(_ type: Int) -> MessageRedaction.Rule {
        switch type {
        case Int(NDA_DST): .address
        case Int(NDA_LLADDR): .hardware
        case Int(NDA_CACHEINFO), Int(NDA_PROBES): .keep
        default: .zero
        }
    }
}
