import LinuxSupport
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
        announce([.address, .addition])
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
            // The other addresses of the same prefix are removed together with the first (promote_secondaries is
            // off).
            let secondaries = addresses.filter {
                $0.interface == index && $0.isSecondary && $0.prefix.network == address.prefix.network
            }
            for secondary in secondaries { remove(secondary) }
        }
        remove(address)
    }

    /// Changes an address after the end of duplicate address detection or of the preferred lifetime.
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
        announce([.address, .addition])
        addRoutes(of: addresses[position])
    }

    /// Returns whether the address is assigned to this machine, as required for the source of IPv4 packets.
    func isOwn(_ address: WireAddress) -> Bool {
        address.isLoopback && address.family == .ipv4 || addresses.contains { $0.address == address }
    }

    /// Adds the address of fe80::/64 if the link is operational.
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

    /// Inserts an address. IPv4 addresses are in the order of their addition. IPv6 addresses are sorted by scope, the
    /// widest first, and within a scope the latest first.
    private mutating func insert(_ address: Address) {
        let scope = address.address.sourceScope
        let position =
            address.family == .ipv4
            ? nil : addresses.firstIndex { $0.family == .ipv6 && $0.address.sourceScope <= scope }
        addresses.insert(address, at: position ?? addresses.endIndex)
    }

    private mutating func remove(_ address: Address) {
        addresses.removeAll { $0.interface == address.interface && $0.address == address.address }
        announce([.address, .removal])
        removeRoutes(of: address)
        guard address.family == .ipv4 else { return }
        let hasOthers = addresses.contains { $0.family == .ipv4 && $0.interface == address.interface }
        if !hasOthers { killIPv4NextHops(on: address.interface, keepingLocal: false) }
    }
}

/// The addresses that share their first `length` bits with `address`. The other bits of `address` are kept.
struct Prefix: Hashable, Sendable {
    var address: WireAddress
    var length: Int

    init(_ address: WireAddress, length: Int) {
        self.address = address
        self.length = length
    }

    /// Parses `10.0.0.2/24`, `10.0.0.2` (all bits) or `default`, which requires the family.
    init(parsing text: String, family: AddressFamily? = nil) throws(Refusal) {
        if text == "default" {
            self.init(WireAddress(family: family ?? .ipv4, bits: 0), length: 0)
            return
        }
        let parts = text.split(at: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = WireAddress(String(parts[0])) else {
            throw Refusal("\"\(text)\" is neither an address, a prefix nor \"default\"")
        }
        self.init(address, length: address.family.bitCount)
        if parts.count == 2 {
            guard let length = Int(parts[1]), (0...address.family.bitCount).contains(length) else {
                throw Refusal("\"\(text)\" has no usable prefix length")
            }
            self.length = length
        }
    }

    var family: AddressFamily { address.family }

    /// The prefix with all host bits zero.
    var network: Prefix {
        let hostBits = UInt128(family.bitCount - length)
        let mask: UInt128 = hostBits >= 128 ? .max : (1 << hostBits) - 1
        return Prefix(WireAddress(family: family, bits: address.bits & ~mask), length: length)
    }

    /// The last address, which is the broadcast address of IPv4.
    var broadcast: WireAddress {
        WireAddress(family: family, bits: network.address.bits | ((1 << UInt128(family.bitCount - length)) - 1))
    }

    func covers(_ other: WireAddress) -> Bool {
        other.isCovered(by: address, length: length)
    }
}

/// The refusal of a change that Linux would refuse or that is meaningless, with the reason.
struct Refusal: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
