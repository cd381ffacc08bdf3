import CLinux
import Glibc
package import LinuxSupport

/// The socket that receives events. It never sends requests, because after an overrun their replies would be lost.
///
/// `join`, `leave`, `setFilter` and `wait` are thread-safe. `drain`, and `join` because it discards messages, require
/// that only one thread reads at a time.
package final class EventSocket: @unchecked Sendable {
    let socket: NetlinkSocket
    /// A Boolean value that indicates whether the socket has a filter. The lock also orders changes of the filter.
    let isFiltered = Locked(false)
    /// Only the beginning of each message is received. The kernel truncates the rest.
    private let buffer: DatagramBuffer
    /// The maximum number of messages that are read before the reader processes them. The rest stays in the socket.
    private static let burstLimit = 4096
    /// A Boolean value that indicates whether an overrun is in progress. After an overrun the kernel drops messages,
    /// and reports no further overrun, until all queued messages have been read (NETLINK_S_CONGESTED,
    /// net/netlink/af_netlink.c).
    private var isCongested = false
    /// Receives every message, for recordings; nil if the messages are not recorded.
    private let tap: (any NetlinkTap)?
    /// The maximum size of a message for a tap, which is more than the kernel sends.
    package static let tappedLimit = 64 << 10

    /// Opens the socket in the calling thread's network namespace. It receives nothing until `join()`.
    ///
    /// - Parameter tap: Receives every message.
    package init(tap: (any NetlinkTap)? = nil) throws(NetlinkError) {
        self.tap = tap
        socket = try NetlinkSocket(family: NETLINK_ROUTE)
        try socket.setNonBlocking()
        // An overrun only causes one more evaluation. A larger buffer makes it rarer. The kernel limits the size to
        // rmem_max.
        socket.setReceiveBuffer(bytes: 1 << 20)
        buffer =
            tap == nil
            ? DatagramBuffer(count: 16, size: EventBurst.headLimit) : DatagramBuffer(count: 1, size: Self.tappedLimit)
    }

    package var descriptor: CInt { socket.descriptor }

    /// Joins the multicast groups, and discards messages of an earlier membership. Call this before the first
    /// evaluation, so that no change is missed in between.
    ///
    /// - Returns: The groups that this kernel does not support.
    package func join() throws(NetlinkError) -> [MulticastGroup] { try join(MulticastGroup.reachability) }

    func join(_ groups: [MulticastGroup]) throws(NetlinkError) -> [MulticastGroup] {
        discard()
        var missing: [MulticastGroup] = []
        for group in groups {
            do throws(NetlinkError) {
                try socket.join(group)
            } catch {
                guard error.cause == .invalidArgument, group.isOptional else { throw error }
                missing.append(group)
            }
        }
        return missing
    }

    package func leave() {
        for group in MulticastGroup.reachability { socket.leave(group) }
    }

    /// Reads and discards the remaining messages.
    private func discard() {
        while true {
            do {
                if try buffer.receive(from: descriptor) < buffer.count { break }
            } catch .noBufferSpace {
                continue
            } catch {
                break
            }
        }
        isCongested = false
    }

    /// Reads the available messages without waiting. If messages were lost, the loss is reported before the queued
    /// messages are read, and again after they have been read.
    package func drain() -> EventBurst {
        var burst = EventBurst()
        for _ in 0..<(Self.burstLimit / buffer.count) {
            let count: Int
            do {
                count = try buffer.receive(from: descriptor)
            } catch .noBufferSpace {
                tap?.lost()
                burst.noteLoss()
                isCongested = wait(atMost: .zero)
                return burst
            } catch .tryAgain {
                count = 0
            } catch {
                burst.failure = error
                return burst
            }
            for index in 0..<count {
                let datagram = buffer[index]
                tap?.received(Array(datagram.bytes), from: datagram.sender)
                burst.note(datagram.bytes, from: datagram.sender)
            }
            // Fewer datagrams than the buffer can hold: the socket is empty.
            if count < buffer.count {
                noteEndOfCongestion(&burst)
                return burst
            }
        }
        return burst
    }

    private func noteEndOfCongestion(_ burst: inout EventBurst) {
        guard isCongested else { return }
        tap?.lost()
        burst.noteSilentLoss()
        isCongested = false
    }

    /// Blocks until a message is available, at most for `limit`. Returns true if a message is available.
    package func wait(atMost limit: Duration) -> Bool {
        let (seconds, attoseconds) = limit.components
        var limit = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        return clinux_ppoll_readable(descriptor, &limit) > 0
    }

    /// Blocks until a message is available or another thread wakes this one, without a timeout.
    ///
    /// - Throws: The error of poll(2). A process whose descriptor limit is below two cannot poll two descriptors.
    package func wait(or wakeup: borrowing Wakeup) throws(SystemError) {
        while clinux_poll_readable(descriptor, wakeup.number) < 0 {
            if errno != EINTR { throw .current }
        }
    }
}

extension EventSocket {
    /// Sets the filter of the socket; nil removes it. Thread-safe.
    ///
    /// The kernel replaces the filter in one step and applies it to new messages. Queued messages stay. Therefore set
    /// the filter first, then evaluate the watched targets again.
    ///
    /// If the kernel has too little memory for options (`net.core.optmem_max`), a shorter and coarser program is used.
    ///
    /// - Throws: A `NetlinkError`. With stage `.filter` the kernel accepts no filter, as under seccomp, and the socket
    ///   receives everything. With stage `.socket` the socket still has the old filter and may drop messages that the
    ///   new one passes. Open another socket in that case.
    ///
    /// C counterpart: SO_ATTACH_FILTER and SO_DETACH_FILTER of `socket(7)`.
    package func setFilter(_ filter: RouteFilter?) throws(NetlinkError) {
        try isFiltered.withLock { isFiltered throws(NetlinkError) in
            guard var filter else {
                try detachFilter(&isFiltered)
                return
            }
            while true {
                do throws(SystemError) {
                    try socket.attach(filter.program)
                    isFiltered = true
                    return
                } catch {
                    // The kernel counts the memory of the old and the new filter until the replacement is complete.
                    let hadFilter = isFiltered
                    try detachFilter(&isFiltered)
                    if error == .noMemory, hadFilter { continue }
                    guard error == .noMemory, let shorter = filter.halved else {
                        throw NetlinkError("filter a netlink socket", error, stage: .filter)
                    }
                    filter = shorter
                }
            }
        }
    }

    private func detachFilter(_ isFiltered: inout Bool) throws(NetlinkError) {
        guard isFiltered else { return }
        do throws(SystemError) {
            try socket.detachFilter()
        } catch .noEntry {
            // There is no filter.
        } catch {
            throw NetlinkError("remove the filter of a netlink socket", error)
        }
        isFiltered = false
    }
}

/// A multicast group of rtnetlink whose messages can change the path of a packet.
///
/// C counterpart: `RTNLGRP_*` in `<linux/rtnetlink.h>`.
package struct MulticastGroup: Hashable, Sendable {
    let rawValue: UInt32
    /// The constant's name without `RTNLGRP_`.
    package let name: String

    init(rawValue: UInt32, name: String) {
        (self.rawValue, self.name) = (rawValue, name)
    }

    private init(_ group: rtnetlink_groups, _ name: String) {
        self.init(rawValue: group.rawValue, name: name)
    }

    /// Options of router advertisements that the kernel does not process.
    static let routerOptions = MulticastGroup(RTNLGRP_ND_USEROPT, "ND_USEROPT")

    /// The groups that can change a path. IPv4 routes disappear without a message when their device or source address
    /// does, so links and addresses are included. Rules and next hops change routes without route messages. NETCONF
    /// reports `ignore_routes_with_linkdown`. IPv6 skips routes whose gateway has failed as a neighbour (RFC 4191),
    /// which only the state of the neighbour shows.
    static let reachability: [MulticastGroup] = [
        MulticastGroup(RTNLGRP_LINK, "LINK"),
        MulticastGroup(RTNLGRP_IPV4_IFADDR, "IPV4_IFADDR"), MulticastGroup(RTNLGRP_IPV6_IFADDR, "IPV6_IFADDR"),
        MulticastGroup(RTNLGRP_IPV4_ROUTE, "IPV4_ROUTE"), MulticastGroup(RTNLGRP_IPV6_ROUTE, "IPV6_ROUTE"),
        MulticastGroup(RTNLGRP_IPV4_RULE, "IPV4_RULE"), MulticastGroup(RTNLGRP_IPV6_RULE, "IPV6_RULE"),
        MulticastGroup(RTNLGRP_NEXTHOP, "NEXTHOP"), MulticastGroup(RTNLGRP_NEIGH, "NEIGH"),
        MulticastGroup(RTNLGRP_IPV4_NETCONF, "IPV4_NETCONF"), MulticastGroup(RTNLGRP_IPV6_NETCONF, "IPV6_NETCONF"),
    ]

    /// A Boolean value that indicates whether the kernel may lack the group. Its events then do not exist, or are
    /// noticed late.
    var isOptional: Bool { ["NEXTHOP", "IPV4_NETCONF", "IPV6_NETCONF"].contains(name) }
}
