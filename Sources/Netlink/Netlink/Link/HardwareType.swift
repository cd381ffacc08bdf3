/// What a link's frames look like, the number space of ARP hardware types.
///
/// C counterpart: `ARPHRD_*` in `<linux/if_arp.h>`.
package struct HardwareType: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let ethernet = HardwareType(rawValue: 1)
    package static let infiniband = HardwareType(rawValue: 32)
    package static let ppp = HardwareType(rawValue: 512)
    package static let rawIP = HardwareType(rawValue: 519)
    package static let ipip = HardwareType(rawValue: 768)
    package static let ip6Tunnel = HardwareType(rawValue: 769)
    package static let loopback = HardwareType(rawValue: 772)
    package static let sit = HardwareType(rawValue: 776)
    package static let gre = HardwareType(rawValue: 778)
    package static let ieee80211 = HardwareType(rawValue: 801)
    package static let ieee80211Prism = HardwareType(rawValue: 802)
    package static let ieee80211Radiotap = HardwareType(rawValue: 803)
    package static let ip6GRE = HardwareType(rawValue: 823)
    package static let none = HardwareType(rawValue: 65534)
}
