import CLinux

/// What only the device behind a link can tell; route netlink does not say it.
package struct LinkHardware: Hashable, Sendable {
    /// The role of a Wi-Fi interface (NL80211_IFTYPE); nil when it is none.
    package var wireless: WirelessRole?
    /// DEVTYPE of the device's uevent (`wlan`, `wwan` ...), verified to be of this very link.
    package var deviceType: String?
    /// The driver's name as ethtool tells it.
    package var driver: String?

    /// The device this one stands on where only sysfs says so, as of the links of a Qualcomm modem.
    package var lowerIndex: UInt32?

    package init(
        wireless: WirelessRole? = nil,
        deviceType: String? = nil,
        driver: String? = nil,
        lowerIndex: UInt32? = nil
    ) {
        self.lowerIndex = lowerIndex
        self.wireless = wireless
        self.deviceType = deviceType
        self.driver = driver
    }
}

/// What a Wi-Fi interface is used for.
///
/// C counterpart: `enum nl80211_iftype`.
package struct WirelessRole: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let station = WirelessRole(rawValue: 2)
    package static let accessPoint = WirelessRole(rawValue: 3)
    package static let accessPointVLAN = WirelessRole(rawValue: 4)
    package static let monitor = WirelessRole(rawValue: 6)
    package static let peerGroupOwner = WirelessRole(rawValue: 9)
}

extension WirelessRole {
    /// Reads an NL80211_CMD_NEW_INTERFACE body; nil when it is truncated, of another command or of another interface.
    init?(body: UnsafeRawBufferPointer, interface: UInt32) {
        guard let head = body.load(genlmsghdr.self, at: 0), head.cmd == UInt8(NL80211_CMD_NEW_INTERFACE.rawValue) else {
            return nil
        }
        var index: UInt32?
        var role: UInt32?
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<genlmsghdr>.size)) {
            switch nl80211_attrs(UInt32(type)) {
            case NL80211_ATTR_IFINDEX: index = value.word
            case NL80211_ATTR_IFTYPE: role = value.word
            default: break
            }
        }
        guard let role, index == interface else { return nil }
        self.init(rawValue: role)
    }
}
