import Netlink

extension InterfaceClass {
    /// The class of a link without a kind, by its device: the last lines of the decision list.
    init(_ link: Link, _ hardware: LinkHardware) {
        if let role = hardware.wireless {
            self.init(.wiFi, isUplink: role.isUplink)
        } else if hardware.deviceType == "wlan" {
            self.init(.wiFi)
        } else if hardware.deviceType == "wwan" || hardware.hasModemDriver || link.hasModemName || link.isRawIPDevice {
            self.init(.wwan)
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
