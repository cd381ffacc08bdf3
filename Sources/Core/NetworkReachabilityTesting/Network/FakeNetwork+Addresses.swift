import LinuxPrimitives
import Netlink

extension FakeNetwork {
    mutating func addAddress(
        _ prefix: Prefix,
        to name: String,
        isTentative: Bool = false,
        isDeprecated: Bool = false,
        isOfLink: Bool = false
    ) throws(Refusal) {
        let index = try index(of: name)
        guard !prefix.address.isUnspecified, !prefix.address.isMulticast else {
            throw Refusal("\(prefix.address) cannot be the address of a link")
        }
        guard !addresses.contains(where: { $0.interface == index && $0.address == prefix.address }) else {
            throw Refusal("\(name) has the address \(prefix.address) already")
        }
        if prefix.family == .ipv4, isTentative { throw Refusal("only IPv6 detects duplicate addresses") }
        if prefix.family == .ipv6, isOfLink { throw Refusal("an IPv6 address has its scope by itself") }
        var address = Address(prefix: prefix, interface: index)
        address.isTentative = isTentative
        address.isDeprecated = isDeprecated
        address.isOfLink = isOfLink
        address.isSecondary =
            prefix.family == .ipv4
            && addresses.contains {
                $0.interface == index && !$0.isSecondary && $0.prefix.network == prefix.network
            }
        insert(address)
        hear([.address, .addition])
        addRoutes(of: address)
        if prefix.family == .ipv4 { reviveHops(on: index, families: [.ipv4]) }
    }

    mutating func removeAddress(_ prefix: Prefix, from name: String) throws(Refusal) {
        let index = try index(of: name)
        guard
            let address = addresses.first(where: {
                $0.interface == index && $0.address == prefix.address
                    && (prefix.length == prefix.family.bitCount || prefix.length == $0.prefix.length)
            })
        else { throw Refusal("\(name) has no address \(prefix.address)/\(prefix.length)") }
        if address.family == .ipv4, !address.isSecondary {
            // The others of the same prefix live and die with the first (promote_secondaries off).
            let secondaries = addresses.filter {
                $0.interface == index && $0.isSecondary && $0.prefix.network == address.prefix.network
            }
            for secondary in secondaries { remove(secondary) }
        }
        remove(address)
    }

    /// Duplicate address detection ends well, or the preferred lifetime does.
    mutating func update(
        _ address: WireAddress,
        on name: String,
        _ change: (inout Address) -> Void
    ) throws(Refusal) {
        let index = try index(of: name)
        guard let position = addresses.firstIndex(where: { $0.interface == index && $0.address == address }) else {
            throw Refusal("\(name) has no address \(address)")
        }
        change(&addresses[position])
        hear([.address, .addition])
        addRoutes(of: addresses[position])
    }

    /// Whether the address is one of ours, as a packet's source must be (IPv4).
    func isOwn(_ address: WireAddress) -> Bool {
        address.isLoopback && address.family == .ipv4 || addresses.contains { $0.address == address }
    }

    /// fe80::/64, as soon as the link is operational.
    mutating func makeLinkLocalAddress(_ index: UInt32) {
        guard let device = device(index), device.isRunning, let address = device.linkLocalAddress,
            !addresses.contains(where: { $0.interface == index && $0.address == address })
        else { return }
        try? addAddress(Prefix(address, length: 64), to: device.link.name)
    }

    mutating func addLoopbackIPv6(_ index: UInt32) {
        guard let device = device(index) else { return }
        try? addAddress(Prefix(.ipv6Loopback, length: 128), to: device.link.name)
    }

    /// IPv4 keeps the order of arrival; IPv6 keeps the wider scope first, and the newest first within one.
    private mutating func insert(_ address: Address) {
        let scope = address.address.sourceScope
        let position =
            address.family == .ipv4
            ? nil : addresses.firstIndex { $0.family == .ipv6 && $0.address.sourceScope <= scope }
        addresses.insert(address, at: position ?? addresses.endIndex)
    }

    private mutating func remove(_ address: Address) {
        addresses.removeAll { $0.interface == address.interface && $0.address == address.address }
        hear([.address, .removal])
        removeRoutes(of: address)
        guard address.family == .ipv4 else { return }
        let hasOthers = addresses.contains { $0.family == .ipv4 && $0.interface == address.interface }
        if !hasOthers { killIPv4NextHops(on: address.interface, keepingLocal: false) }
    }
}
