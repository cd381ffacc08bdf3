/// The addresses that stand for the network at large: it is reachable when a majority of either family is.
package enum LargeNetwork {
    package static let ipv4 = [
        "1.1.1.1", "8.8.8.8", "9.9.9.9", "64.6.64.6", "192.5.5.241", "193.0.14.129", "199.7.83.42", "202.12.27.33",
    ]
    package static let ipv6 = [
        "2001:4860:4860::8888", "2606:4700:4700::1111", "2620:fe::fe", "2a10:50c0::ad1:ff", "2400:3200::1",
    ]

    package static func isReachable(_ addresses: Set<String>) -> Bool {
        [ipv4, ipv6].contains { family in
            addresses.intersection(family).count * 2 > family.count
        }
    }
}
