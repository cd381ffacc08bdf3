import CLinux
package import LinuxSupport

/// Replaces the data in netlink messages that identifies a network. Addresses are replaced, and attributes that are not
/// known to be harmless are filled with zeros. Lengths are kept, so a message can still be decoded.
package struct MessageRedaction: Sendable {
    /// The treatment of an attribute.
    indirect enum Rule {
        case keep
        case zero
        case address
        /// An address with this prefix length. The other bits stay zero.
        case prefix(Int)
        /// A link-layer address. That of a tunnel is an IP address.
        case hardware
        /// A family, followed by an address.
        case via
        case nest(@Sendable (Int) -> Rule)
        /// Next hops with their attributes.
        case nextHops
        /// IFLA_LINKINFO, whose data depends on the kind of the link.
        case linkInformation
    }

    private let address: @Sendable (WireAddress) -> WireAddress
    private let hardware: @Sendable ([UInt8]) -> [UInt8]

    /// Creates a redaction.
    ///
    /// - Parameters:
    ///   - address: Returns the replacement of an address.
    ///   - hardware: Returns the replacement of a link-layer address, which has the same length.
    package init(
        address: @escaping @Sendable (WireAddress) -> WireAddress,
        hardware: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.address = address
        self.hardware = hardware
    }

    /// Returns the messages with the data replaced.
    package func redacted(_ messages: [UInt8]) -> [UInt8] {
        var bytes = messages
        var start = 0
        while let header = bytes[start...].withUnsafeBytes({ MessageHeader($0) }) {
            redact(&bytes, header.kind, (start + MessageHeader.size)..<(start + header.length))
            start = min(bytes.count, start + header.length.alignedToAttribute)
        }
        // A truncated message is not decoded.
        let rest = min(bytes.count, start + MessageHeader.size)
        zero(&bytes, rest..<bytes.count)
        return bytes
    }

    private func redact(_ bytes: inout [UInt8], _ kind: MessageKind, _ body: Range<Int>) {
        func prefixLength(_ offset: Int) -> Int { body.count > offset ? Int(bytes[body.lowerBound + offset]) : 0 }
        let (destination, source) = (prefixLength(1), prefixLength(2))
        let head: Int
        let rule: (Int) -> Rule
        switch kind {
        case .newLink, .deleteLink, .getLink:
            (head, rule) = (MemoryLayout<ifinfomsg>.size, Rule.link)
        case .newAddress, .deleteAddress:
            (head, rule) = (MemoryLayout<ifaddrmsg>.size, Rule.address)
        case .newRoute, .deleteRoute, .getRoute:
            (head, rule) = (MemoryLayout<rtmsg>.size, { Rule.route($0, destination, source) })
        case .newRule, .deleteRule:
            (head, rule) = (MemoryLayout<fib_rule_hdr>.size, { Rule.policy($0, destination, source) })
        case .newNextHop, .deleteNextHop, .getNextHop:
            (head, rule) = (MemoryLayout<nhmsg>.size, Rule.nextHop)
        case .newNeighbour, .deleteNeighbour, .getNeighbour:
            // The header of an AF_BRIDGE request is longer, with the interface index in the same position.
            (head, rule) = (MemoryLayout<ndmsg>.size, Rule.neighbour)
        case .newNetworkConfiguration, .deleteNetworkConfiguration:
            (head, rule) = (MemoryLayout<netconfmsg>.size.alignedToAttribute, { _ in .keep })
        case .error:
            // The rest is a copy of the request.
            return zero(&bytes, skip(MemoryLayout<nlmsgerr>.size, body))
        case .done:
            return zero(&bytes, skip(MemoryLayout<Int32>.size, body))
        default:
            return zero(&bytes, body)
        }
        attributes(&bytes, skip(head, body), rule)
    }

    private func skip(_ count: Int, _ range: Range<Int>) -> Range<Int> {
        min(range.upperBound, range.lowerBound + count)..<range.upperBound
    }

    private func zero(_ bytes: inout [UInt8], _ range: Range<Int>) {
        for index in range { bytes[index] = 0 }
    }

    /// Applies a rule to each attribute in `range`.
    private func attributes(_ bytes: inout [UInt8], _ range: Range<Int>, _ rule: (Int) -> Rule) {
        var start = range.lowerBound
        let head = MemoryLayout<rtattr>.size
        while let found = bytes.attribute(at: start, before: range.upperBound) {
            apply(rule(found.type), to: &bytes, (start + head)..<(start + found.length))
            start = min(range.upperBound, start + found.length.alignedToAttribute)
        }
        zero(&bytes, start..<range.upperBound)
    }

    private func apply(_ rule: Rule, to bytes: inout [UInt8], _ range: Range<Int>) {
        switch rule {
        case .keep: break
        case .zero: zero(&bytes, range)
        case .address: replace(&bytes, range, length: nil)
        case .prefix(let length): replace(&bytes, range, length: length)
        case .hardware:
            if [4, 16].contains(range.count) { return replace(&bytes, range, length: nil) }
            bytes.replaceSubrange(range, with: hardware(Array(bytes[range])))
        case .via: replace(&bytes, skip(MemoryLayout<UInt16>.size, range), length: nil)
        case .nest(let rule): attributes(&bytes, range, rule)
        case .nextHops: nextHops(&bytes, range)
        case .linkInformation:
            let kind = bytes[range].withUnsafeBytes { Attributes($0).value(of: IFLA_INFO_KIND)?.text } ?? ""
            attributes(&bytes, range) { Rule.linkInformation($0, kind) }
        }
    }

    private func replace(_ bytes: inout [UInt8], _ range: Range<Int>, length: Int?) {
        guard let known = WireAddress(bytes: bytes[range]) else { return zero(&bytes, range) }
        var replacement = address(known)
        if let length { replacement = AddressPrefix(replacement, length: length).address }
        bytes.replaceSubrange(range, with: replacement.bytes)
    }

    private func nextHops(_ bytes: inout [UInt8], _ range: Range<Int>) {
        var start = range.lowerBound
        let size = MemoryLayout<rtnexthop>.size
        while range.upperBound - start >= size {
            let length = Int(bytes[start]) | Int(bytes[start + 1]) << 8
            guard length >= size, length <= range.upperBound - start else { break }
            attributes(&bytes, (start + size)..<(start + length), Rule.nextHopOfRoute)
            start = min(range.upperBound, start + length.alignedToAttribute)
        }
        zero(&bytes, start..<range.upperBound)
    }
}

extension [UInt8] {
    /// Returns the attribute that begins at `start`; nil if it is truncated or malformed.
    fileprivate func attribute(at start: Int, before end: Int) -> (type: Int, length: Int)? {
        guard end - start >= MemoryLayout<rtattr>.size else { return nil }
        let head = self[start..<end].withUnsafeBytes { $0.load(rtattr.self, at: 0) }
        guard let head, Int(head.rta_len) >= MemoryLayout<rtattr>.size, Int(head.rta_len) <= end - start else {
            return nil
        }
        return (Int(head.rta_type & 0x3fff), Int(head.rta_len))
    }
}

// MARK: - Rules

/// The attributes that are kept or replaced. All others are filled with zeros.
extension MessageRedaction.Rule {
    static func link(_ type: Int) -> MessageRedaction.Rule {
        switch type {
        case IFLA_ADDRESS, IFLA_BROADCAST, IFLA_PERM_ADDRESS: .hardware
        case IFLA_LINKINFO: .linkInformation
        case IFLA_IFNAME, IFLA_MTU, IFLA_OPERSTATE, IFLA_LINK, IFLA_MASTER, IFLA_LINK_NETNSID,
            IFLA_PARENT_DEV_BUS_NAME, IFLA_TXQLEN, IFLA_LINKMODE, IFLA_CARRIER, IFLA_GROUP, IFLA_EXT_MASK,
            IFLA_CARRIER_CHANGES, IFLA_CARRIER_DOWN_COUNT, IFLA_PROTO_DOWN, IFLA_EVENT:
            .keep
        default: .zero
        }
    }

    static func linkInformation(_ type: Int, _ kind: String) -> MessageRedaction.Rule {
        switch type {
        case IFLA_INFO_KIND, IFLA_INFO_SLAVE_KIND: .keep
        case IFLA_INFO_DATA: .nest { linkData($0, kind) }
        default: .zero
        }
    }

    private static func linkData(_ type: Int, _ kind: String) -> MessageRedaction.Rule {
        switch (kind, type) {
        case ("bond", IFLA_BOND_ACTIVE_SLAVE), ("vlan", IFLA_VLAN_ID): return .keep
        default:
            guard let tunnel = TunnelAttributes(of: kind) else { return .zero }
            if tunnel.remote.contains(type) || tunnel.local.contains(type) { return .address }
            return type == tunnel.link || type == tunnel.mark ? .keep : .zero
        }
    }

    static func address(_ type: Int) -> MessageRedaction.Rule {
        switch type {
        case Int(IFA_ADDRESS), Int(IFA_LOCAL), Int(IFA_BROADCAST), Int(IFA_ANYCAST), Int(IFA_MULTICAST): .address
        case Int(IFA_LABEL), Int(IFA_CACHEINFO), Int(IFA_FLAGS), Int(IFA_RT_PRIORITY): .keep
        default: .zero
        }
    }

    static func route(_ type: Int, _ destination: Int, _ source: Int) -> MessageRedaction.Rule {
        switch rtattr_type_t(UInt32(type)) {
        case RTA_DST: .prefix(destination)
        case RTA_SRC: .prefix(source)
        case RTA_GATEWAY, RTA_PREFSRC: .address
        case RTA_VIA: .via
        case RTA_MULTIPATH: .nextHops
        case RTA_IIF, RTA_OIF, RTA_PRIORITY, RTA_METRICS, RTA_CACHEINFO, RTA_TABLE, RTA_MARK, RTA_PREF,
            RTA_EXPIRES, RTA_NH_ID, RTA_IP_PROTO:
            .keep
        default: .zero
        }
    }

    static func nextHopOfRoute(_ type: Int) -> MessageRedaction.Rule {
        switch rtattr_type_t(UInt32(type)) {
        case RTA_GATEWAY: .address
        case RTA_VIA: .via
        default: .zero
        }
    }

    static func policy(_ type: Int, _ destination: Int, _ source: Int) -> MessageRedaction.Rule {
        switch type {
        case Int(FRA_DST): .prefix(destination)
        case Int(FRA_SRC): .prefix(source)
        case Int(FRA_IIFNAME), Int(FRA_OIFNAME), Int(FRA_GOTO), Int(FRA_PRIORITY), Int(FRA_FWMARK), Int(FRA_FWMASK),
            Int(FRA_TABLE), Int(FRA_SUPPRESS_IFGROUP), Int(FRA_SUPPRESS_PREFIXLEN), Int(FRA_L3MDEV),
            Int(FRA_PROTOCOL), Int(FRA_IP_PROTO):
            .keep
        default: .zero
        }
    }

    static func nextHop(_ type: Int) -> MessageRedaction.Rule {
        switch type {
        case NHA_GATEWAY: .address
        case NHA_ID, NHA_GROUP, NHA_GROUP_TYPE, NHA_BLACKHOLE, NHA_OIF: .keep
        default: .zero
        }
    }

    static func neighbour(_ type: Int) -> MessageRedaction.Rule {
        switch type {
        case Int(NDA_DST): .address
        case Int(NDA_LLADDR): .hardware
        case Int(NDA_CACHEINFO), Int(NDA_PROBES): .keep
        default: .zero
        }
    }
}
