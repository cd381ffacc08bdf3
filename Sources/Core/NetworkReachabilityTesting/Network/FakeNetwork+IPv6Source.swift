import LinuxPrimitives

extension FakeNetwork {
    /// The source of packets to `destination` that leave through the interface: the best by RFC 6724, section 5, with
    /// the newest first among equals. Nil where there is none at all.
    ///
    /// C counterpart: `ipv6_dev_get_saddr`.
    func ipv6Source(for destination: WireAddress, through interface: UInt32) -> WireAddress? {
        let isLocal = destination.isMulticast || destination.sourceScope <= 2
        let candidates = addresses.filter {
            $0.family == .ipv6 && !$0.isTentative && (!isLocal || $0.interface == interface)
        }
        // The order of devices comes before that of their addresses.
        let ordered = candidates.enumerated().sorted {
            ($0.element.interface, $0.offset) < ($1.element.interface, $1.offset)
        }.map(\.element)
        var best: (address: Address, merits: [Int])?
        for address in ordered {
            let merits = merits(of: address, for: destination, through: interface)
            if let best, !best.merits.lexicographicallyPrecedes(merits) { continue }
            best = (address, merits)
        }
        return best?.address.address
    }

    /// The rules in their order; more is better.
    private func merits(of candidate: Address, for destination: WireAddress, through interface: UInt32) -> [Int] {
        let address = candidate.address
        let scope = address.sourceScope
        let wanted = destination.sourceScope
        return [
            address == destination ? 1 : 0,
            scope >= wanted ? -scope : scope - 128,
            candidate.isDeprecated ? 0 : 1,
            candidate.interface == interface ? 1 : 0,
            address.label == destination.label ? 1 : 0,
            min(address.commonPrefixLength(with: destination), candidate.prefix.length),
        ]
    }
}

extension WireAddress {
    /// How far an IPv6 address reaches, with the loopback address counted as link-local (RFC 6724, section 3.4) and
    /// `::` as reaching nowhere.
    var sourceScope: Int {
        if isUnspecified { return 0 }
        if isMulticast { return Int(bits >> 112 & 0xf) }
        if isLoopback || isLinkLocal { return 2 }
        return bits >> 118 == 0x3fb ? 5 : 14
    }

    /// The label of the policy table as Linux has it (RFC 6724, section 2.1).
    fileprivate var label: Int {
        let table: [(String, Int, Int)] = [
            ("::1", 128, 0), ("::ffff:0:0", 96, 4), ("::", 96, 3), ("2001::", 32, 6), ("2001:10::", 28, 7),
            ("2002::", 16, 2), ("fc00::", 7, 5),
        ]
        for (prefix, length, label) in table {
            if let prefix = WireAddress(prefix), isCovered(by: prefix, length: length) { return label }
        }
        return 1
    }

    fileprivate func commonPrefixLength(with other: WireAddress) -> Int {
        (bits ^ other.bits).leadingZeroBitCount
    }
}
