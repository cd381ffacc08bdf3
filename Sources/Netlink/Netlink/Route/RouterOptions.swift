import CLinux
import LinuxSupport

/// The options of a router advertisement that the kernel does not process: name servers (25), the address of a captive
/// portal (37), PREF64 (38).
///
/// C counterpart: `nduseroptmsg` of `<linux/rtnetlink.h>`, RTM_NEWNDUSEROPT; RFC 4861, section 4.6.
package struct RouterOptions: Hashable, Sendable {
    /// The index of the interface on which the advertisement was received.
    package var interface: UInt32
    /// The options as received: type, length in units of eight bytes, value. They come from an untrusted sender.
    package var bytes: [UInt8]

    /// Decodes an RTM_NEWNDUSEROPT body; nil if it is truncated or not about a router advertisement.
    init?(body: UnsafeRawBufferPointer) {
        guard let head = body.load(nduseroptmsg.self, at: 0), head.nduseropt_icmp_type == Self.advertisement else {
            return nil
        }
        let start = MemoryLayout<nduseroptmsg>.size
        guard start + Int(head.nduseropt_opts_len) <= body.count else { return nil }
        interface = UInt32(bitPattern: head.nduseropt_ifindex)
        bytes = Array(body.bytes(from: start, length: Int(head.nduseropt_opts_len)))
    }

    /// ND_ROUTER_ADVERT of RFC 4861.
    private static let advertisement: UInt8 = 134
}

/// Receives the options of router advertisements, without a privilege and without sending a packet. Not thread-safe.
///
/// C counterpart: RTNLGRP_ND_USEROPT of `rtnetlink(7)`.
package final class RouterOptionSocket: @unchecked Sendable {
    private let socket: NetlinkSocket
    private let buffer = DatagramBuffer(count: 8, size: 8 << 10)

    /// Opens the socket in the calling thread's network namespace. It receives options immediately.
    package init() throws(NetlinkError) {
        socket = try NetlinkSocket(family: NETLINK_ROUTE)
        try socket.setNonBlocking()
        try socket.join(.routerOptions)
    }

    /// The descriptor. It is readable when ``drain()`` has messages to read.
    package var descriptor: CInt { socket.descriptor }

    /// Reads the received options without waiting. Options that were lost arrive again with the next advertisement.
    package func drain() -> [RouterOptions] {
        var options: [RouterOptions] = []
        while let count = try? buffer.receive(from: socket.descriptor), count > 0 {
            for index in 0..<count {
                let datagram = buffer[index]
                guard datagram.sender == 0, !datagram.isCutOff else { continue }
                for (header, message) in NetlinkMessages(datagram.bytes) where header.kind == .newRouterOption {
                    guard let found = RouterOptions(body: message.bytes(from: MessageHeader.size)) else { continue }
                    options.append(found)
                }
            }
        }
        return options
    }
}
