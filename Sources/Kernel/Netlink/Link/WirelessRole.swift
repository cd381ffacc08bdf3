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
