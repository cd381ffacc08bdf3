import CLinux
package import LinuxPrimitives
import Netlink

/// Takes out of netlink messages what tells whose network it is: addresses are replaced, and whatever is not known to be
/// harmless becomes zeros. Lengths stay, so that a message still decodes.
package struct MessageRedaction: Sendable {
    /// What becomes of an attribute.
    indirect enum Rule {
        case keep
        case zero
        case address
        /// An address of which only so many bits count; the others stay zero.
        case prefix(Int)
        /// A hardware address; a tunnel's is an IP address.
        case hardware
        /// A family, then an address.
        case via
        case nest(@Sendable (Int) -> Rule)
        /// Next hops, each with attributes of its own.
        case nextHops
        /// IFLA_LINKINFO, whose data means something else for each kind of link.
        case linkInformation
    }

    private let address: @Sendable (WireAddress) -> WireAddress
    private let hardware: @Sendable ([UInt8]) -> [UInt8]

    /// - Parameters:
    ///   - address: what stands in for an address.
    ///   - hardware: what stands in for a hardware address, as many bytes.
    package init(
        address: @escaping @Sendable (WireAddress) -> WireAddress,
        hardware: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.address = address
        self.hardware = hardware
    }

    /// The same messages without what tells too much.
    package func redacted(_ messages: [UInt8]) -> [UInt8] {
        var bytes = messages
        var start = 0
        while let header = bytes[start...].withUnsafeBytes({ MessageHeader($0) }) {
            let end = start + header.length
            redact(&bytes, header.kind, (start + MessageHeader.size)..<end)
            start = min(bytes.count, start + header.length.alignedToAttribute)
        }
        // What is cut off cannot be made out.
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
        case .newNeighbour, .deleteNeighbour:
            (head, rule) = (MemoryLayout<ndmsg>.size, Rule.neighbour)
        case .newNetworkConfiguration, .deleteNetworkConfiguration:
            (head, rule) = (MemoryLayout<netconfmsg>.size.alignedToAttribute, { _ in .keep })
        case .error:
            // The rest repeats the request.
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
            let kind = bytes.kind(of: range)
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
    /// The attribute that begins at `start`; nil when it is cut off or malformed.
    fileprivate func attribute(at start: Int, before end: Int) -> (type: Int, length: Int)? {
        guard end - start >= MemoryLayout<rtattr>.size else { return nil }
        let head = self[start..<end].withUnsafeBytes { $0.load(rtattr.self, at: 0) }
        guard let head, Int(head.rta_len) >= MemoryLayout<rtattr>.size, Int(head.rta_len) <= end - start else {
            return nil
        }
        return (Int(head.rta_type & 0x3fff), Int(head.rta_len))
    }

    /// IFLA_INFO_KIND of an IFLA_LINKINFO.
    fileprivate func kind(of range: Range<Int>) -> String {
        self[range].withUnsafeBytes { nest in
            for (type, value) in Attributes(nest) where type == IFLA_INFO_KIND { return value.text }
            return ""
        }
    }
}
