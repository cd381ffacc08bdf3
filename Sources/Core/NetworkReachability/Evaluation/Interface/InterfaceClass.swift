import Netlink

/// What an interface is, and what that means for a path through it.
package struct InterfaceClass: Hashable, Sendable {
    /// The word for people.
    package var type: InterfaceType
    /// Whether packets end up on a modem: the interface is one, or runs over one as far as its links tell.
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
