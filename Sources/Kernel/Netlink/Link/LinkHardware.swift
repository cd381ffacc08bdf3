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
