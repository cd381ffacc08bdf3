import CLinux
import Glibc
import LinuxPrimitives

/// Questions that only explain an answer.
extension QuestionSocket {
    /// The policy rules of a family in the order they are tried; empty where the kernel has none.
    ///
    /// C counterpart: RTM_GETRULE, `ip-rule(8)`.
    mutating func rules(_ family: AddressFamily) throws(NetlinkError) -> [RoutingRule] {
        try dump(.getRule, as: RoutingRule.init(body:)) { request in
            var head = fib_rule_hdr()
            head.family = family.rawValue
            request.append(head)
        }
    }

    /// The neighbour with this address on a link; nil when the link knows none.
    ///
    /// C counterpart: RTM_GETNEIGH with NDA_DST (Linux 5.0), `ip-neighbour(8)`.
    mutating func neighbour(_ address: WireAddress, on link: UInt32) throws(NetlinkError) -> Neighbour? {
        var request = RequestBuilder()
        request.begin(.getNeighbour, sequence: nextSequence())
        var head = ndmsg()
        head.ndm_family = address.family.rawValue
        head.ndm_ifindex = Int32(bitPattern: link)
        request.append(head)
        request.append(attribute: Int(NDA_DST), address)
        return try answer(to: request, as: Neighbour.init(body:))
    }

    /// Every route of every table that covers an address, also those that no lookup finds. The kernel sends its whole tables.
    ///
    /// C counterpart: RTM_GETROUTE with NLM_F_DUMP, `ip route show table all`.
    mutating func routes(covering address: WireAddress) throws(NetlinkError) -> [TableRoute] {
        try dump(.getRoute, as: { TableRoute(body: $0, covering: address) }) { request in
            var head = rtmsg()
            head.rtm_family = address.family.rawValue
            request.append(head)
        }
    }

    /// Whether IPv6 is switched off on a link (`net.ipv6.conf.NAME.disable_ipv6`); nil where the link has no IPv6 at all.
    ///
    /// C counterpart: IFLA_INET6_CONF in IFLA_AF_SPEC of RTM_GETLINK.
    mutating func isIPv6Disabled(onLink index: UInt32) throws(NetlinkError) -> Bool? {
        var request = RequestBuilder()
        request.append(link: index, name: nil, sequence: nextSequence())
        return try answer(to: request, as: Self.isIPv6Disabled)
    }

    private static func isIPv6Disabled(_ body: UnsafeRawBufferPointer) -> Bool? {
        func nest(_ type: Int, in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
            for (found, value) in Attributes(bytes) where found == type { return value }
            return nil
        }
        // DEVCONF_DISABLE_IPV6 of <linux/ipv6.h>, IFLA_INET6_CONF of <linux/if_link.h>.
        let (disabled, settings) = (26, 2)
        return nest(Int(IFLA_AF_SPEC), in: body.bytes(from: MemoryLayout<ifinfomsg>.size))
            .flatMap { nest(Int(AF_INET6), in: $0) }
            .flatMap { nest(settings, in: $0) }
            .flatMap { $0.load(Int32.self, at: disabled * MemoryLayout<Int32>.size) }
            .map { $0 != 0 }
    }
}

extension TableRoute {
    /// Reads an RTM_NEWROUTE body; nil when it does not cover the address.
    fileprivate init?(body: UnsafeRawBufferPointer, covering address: WireAddress) {
        guard let route = Route(body: body), let head = body.load(rtmsg.self, at: 0),
            head.rtm_family == address.family.rawValue
        else { return nil }
        var destination = WireAddress(family: address.family, bits: 0)
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<rtmsg>.size)) where type == RTA_DST.rawValue {
            destination = WireAddress(bytes: value) ?? destination
        }
        let prefix = AddressPrefix(destination, length: Int(route.prefixLength))
        guard prefix.contains(address) else { return nil }
        self.init(prefix: prefix, route: route)
    }
}
