import CLinux
import Glibc
package import LinuxSupport

/// The socket that listens. It never sends requests: after an overrun their replies would be lost.
///
/// `join`, `leave`, `setFilter` and `wait` from any thread; `drain` and what `join` discards by one reader at a time.
package final class EventSocket: @unchecked Sendable {
    let socket: NetlinkSocket
    /// Whether the socket has a filter. The lock also orders changes of the filter.
    let isFiltered = Locked(false)
    /// Only heads are read; the kernel cuts the rest off.
    private let buffer: DatagramBuffer
    /// Messages read in one go before the reader decodes them; the rest stays readable.
    private static let burstLimit = 4096
    /// After an overrun the kernel drops messages, and reports no other overrun, until all it kept has been read
    /// (NETLINK_S_CONGESTED, net/netlink/af_netlink.c).
    private var isCongested = false
    /// Receives every message, for recordings; nil for none.
    private let tap: (any NetlinkTap)?
    /// The maximum size of a message for a tap, which is more than the kernel sends.
    package static let tappedLimit = 64 << 10

    /// Opens the socket in the calling thread's network namespace, deaf until `join()`.
    ///
    /// - Parameter tap: Receives every message.
    package init(tap: (any NetlinkTap)? = nil) throws(NetlinkError) {
        self.tap = tap
        socket = try NetlinkSocket(family: NETLINK_ROUTE)
        try socket.setNonBlocking()
        // An overrun is one more hint, not a fault; a larger buffer only makes it rarer. More than rmem_max is cut off.
        socket.setReceiveBuffer(bytes: 1 << 20)
        buffer =
            tap == nil
            ? DatagramBuffer(count: 16, size: EventBurst.headLimit) : DatagramBuffer(count: 1, size: Self.tappedLimit)
    }

    package var descriptor: CInt { socket.descriptor }

    /// Begins to hear of changes, without what was left from an earlier time. Call it before the first evaluation, so that
    /// nothing falls in between.
    ///
    /// - Returns: The groups that this kernel does not have.
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

    /// Reads what is left, and forgets it.
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

    /// Reads what is there, without waiting; but when messages were lost, that is reported before what the kernel kept is read,
    /// and once more when it has been read.
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
            // Fewer than there is room for: that was all.
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

    /// Blocks up to `limit` for something to read, and says whether there is.
    package func wait(atMost limit: Duration) -> Bool {
        let (seconds, attoseconds) = limit.components
        var limit = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        return clinux_ppoll_readable(descriptor, &limit) > 0
    }

    /// Blocks until there are messages or another thread wakes this one, without a timeout.
    ///
    /// - Throws: what poll(2) says: a process that may have fewer than two descriptors may not wait for two.
    package func wait(or wakeup: borrowing Wakeup) throws(SystemError) {
        while clinux_poll_readable(descriptor, wakeup.number) < 0 {
            if errno != EINTR { throw .current }
        }
    }
}

extension EventSocket {
    /// Sets the filter of the socket; nil removes it. Thread-safe.
    ///
    /// The kernel replaces the filter in one step and applies it to new messages. Queued messages stay. So set the filter first, then evaluate
    /// the watched targets again.
    ///
    /// A kernel with too little memory for options (`net.core.optmem_max`) gets a shorter and coarser program.
    ///
    /// Throws a `NetlinkError` of stage `.filter` when the kernel takes none, as under seccomp: the socket then hears
    /// everything. At stage `.socket` it has kept the old filter, and may be deaf to what the new one watches: open another
    /// socket.
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
                    // Old and new are both counted until one has replaced the other.
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

/// The rtnetlink groups whose messages can change where a packet goes.
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

    /// Options of router advertisements that the kernel leaves to programs.
    static let routerOptions = MulticastGroup(RTNLGRP_ND_USEROPT, "ND_USEROPT")

    /// IPv4 routes vanish without a message when their device or source does, so links and addresses belong to it;
    /// rules and next hops change routes without naming them; NETCONF tells of `ignore_routes_with_linkdown`. IPv6 passes
    /// over routes whose gateway has failed as a neighbour (RFC 4191), and only the neighbour's state tells.
    static let reachability: [MulticastGroup] = [
        MulticastGroup(RTNLGRP_LINK, "LINK"),
        MulticastGroup(RTNLGRP_IPV4_IFADDR, "IPV4_IFADDR"), MulticastGroup(RTNLGRP_IPV6_IFADDR, "IPV6_IFADDR"),
        MulticastGroup(RTNLGRP_IPV4_ROUTE, "IPV4_ROUTE"), MulticastGroup(RTNLGRP_IPV6_ROUTE, "IPV6_ROUTE"),
        MulticastGroup(RTNLGRP_IPV4_RULE, "IPV4_RULE"), MulticastGroup(RTNLGRP_IPV6_RULE, "IPV6_RULE"),
        MulticastGroup(RTNLGRP_NEXTHOP, "NEXTHOP"), MulticastGroup(RTNLGRP_NEIGH, "NEIGH"),
        MulticastGroup(RTNLGRP_IPV4_NETCONF, "IPV4_NETCONF"), MulticastGroup(RTNLGRP_IPV6_NETCONF, "IPV6_NETCONF"),
    ]

    /// Whether a kernel may lack the group. Its events then do not exist, or show late.
    var isOptional: Bool { ["NEXTHOP", "IPV4_NETCONF", "IPV6_NETCONF"].contains(name) }
}
