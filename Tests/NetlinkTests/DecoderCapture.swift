import CLinux
import NetworkLab

@testable import Netlink

/// Datagrams as the real kernel writes them: every kind that is decoded, from a namespace with a bit of everything.
enum DecoderCapture {
    /// What is set up in the namespace; what a kernel does not have is left out.
    private static let commands = [
        "link set lo up", "link add u0 type veth peer name far", "link set far up", "link set u0 up",
        "addr add 192.0.2.2/24 dev u0", "addr add 2001:db8::2/64 dev u0 nodad", "link add b0 type bridge",
        "link add t0 type gretap remote 192.0.2.9 local 192.0.2.2", "link add t1 type ip6tnl remote 2001:db8::9",
        "link add x0 type vxlan id 7 remote 192.0.2.8 dstport 4789 dev u0", "link set far master b0",
        "route add default via 192.0.2.1 mtu 1400", "route add default via 2001:db8::1",
        "route add 203.0.113.0/24 nexthop via 192.0.2.3 nexthop via 192.0.2.4 weight 3",
        "route add 198.51.100.0/24 via inet6 2001:db8::7", "route add prohibit 198.51.100.9",
        "-6 route add 2001:db8:1::/48 nexthop via 2001:db8::3 nexthop via 2001:db8::4",
        "-6 route add 2001:db8:2::/48 via 2001:db8::5 expires 100",
        "nexthop add id 10 via 192.0.2.5 dev u0", "nexthop add id 11 via 192.0.2.6 dev u0",
        "nexthop add id 12 group 10,3/11", "nexthop add id 13 blackhole", "route add 198.18.0.0/15 nhid 12",
        "rule add fwmark 7 lookup 77",
        "rule add not from 192.0.2.0/24 to 198.51.100.0/24 iif lo oif u0 uidrange 5-9 prohibit",
        "rule add pref 50 goto 32766", "rule add table main suppress_prefixlength 0",
        "neigh add 192.0.2.1 lladdr 02:00:00:00:00:99 dev u0 nud permanent",
        "neigh add 2001:db8::1 lladdr 02:00:00:00:00:99 dev u0 nud permanent",
    ]

    /// What is dumped, and the size of the body that asks for it.
    private static let questions = [
        (RTM_GETLINK, MemoryLayout<ifinfomsg>.size), (RTM_GETADDR, MemoryLayout<ifaddrmsg>.size),
        (RTM_GETROUTE, MemoryLayout<rtmsg>.size), (RTM_GETRULE, MemoryLayout<rtmsg>.size),
        (RTM_GETNEIGH, MemoryLayout<ndmsg>.size), (RTM_GETNEXTHOP, MemoryLayout<nhmsg>.size),
    ]

    /// The answers to dumps of links, addresses, routes, rules, neighbours and next hops, and the events of one link.
    static func datagrams() throws -> [[UInt8]] {
        let namespace = try LabNamespace()
        defer { namespace.close() }
        let events = try namespace.perform {
            try NetlinkSocket(family: NETLINK_ROUTE).collected { socket in
                for group in MulticastGroup.reachability { try socket.join(group) }
                for command in commands { _ = try? namespace.ip(command) }
            }
        }
        let dumps = try namespace.perform {
            try questions.flatMap { kind, size in
                try NetlinkSocket(family: NETLINK_ROUTE).collected { socket in
                    var request = RequestBuilder()
                    request.begin(MessageKind(rawValue: UInt16(kind)), flags: NLM_F_DUMP, sequence: 1)
                    for _ in 0..<size / 4 { request.append(UInt32(0)) }
                    try socket.send(request.bytes)
                }
            }
        }
        return events + dumps
    }
}

extension NetlinkSocket {
    /// Everything the socket was sent during and after `body`.
    consuming func collected(_ body: (borrowing NetlinkSocket) throws -> Void) throws -> [[UInt8]] {
        setReceiveBuffer(bytes: 4 << 20)
        try setNonBlocking()
        try body(self)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var datagrams: [[UInt8]] = []
        while case let count = recv(descriptor, buffer.baseAddress, buffer.count, 0), count > 0 {
            datagrams.append(Array(buffer.prefix(count)))
        }
        return datagrams
    }
}
