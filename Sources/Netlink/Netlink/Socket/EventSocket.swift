import CLinux
import Glibc
package import LinuxSupport

/// The socket that listens. Nothing is ever asked on it: after an overrun the answer would be lost for good.
///
/// `join`, `leave`, `setFilter` and `wait` from any thread; `drain` and what `join` discards by one reader at a time.
package final class EventSocket: @unchecked Sendable {
    let socket: NetlinkSocket
    /// Whether the kernel has a filter of ours, behind a lock that also puts changes of it in line.
    let isFiltered = Locked(false)
    /// Only heads are read; the kernel cuts the rest off.
    private let buffer: DatagramBuffer
    /// Messages read in one go before the reader decodes them; the rest stays readable.
    private static let burstLimit = 4096
    /// After an overrun the kernel drops messages, and reports no other overrun, until all it kept has been read
    /// (NETLINK_S_CONGESTED, net/netlink/af_netlink.c).
    private var isCongested = false
    /// Hears every message; nil for nobody.
    private let tap: (any NetlinkTap)?
    /// A tap hears so much of a message, which is more than the kernel sends.
    package static let tappedLimit = 64 << 10

    /// Opens the socket in the calling thread's network namespace, deaf until `join()`.
    ///
    /// - Parameter tap: hears every message.
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
        var limit = limit.timespec
        return clinux_ppoll_readable(descriptor, &limit) > 0
    }

    /// Blocks until there is something to read, or somebody wakes the thread, for as long as it takes.
    ///
    /// - Throws: what poll(2) says: a process that may have fewer than two descriptors may not wait for two.
    package func wait(or wakeup: borrowing Wakeup) throws(SystemError) {
        while clinux_poll_readable(descriptor, wakeup.number) < 0 {
            if errno != EINTR { throw .current }
        }
    }
}

extension EventSocket {
    /// Lets the kernel leave out routes that lead elsewhere, or, with nil, none. Thread-safe.
    ///
    /// A filter takes the place of another in one step. It judges what the kernel sends from then on; what has been queued
    /// stays. So set the filter first, then evaluate what it watches anew.
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
            // There is none.
        } catch {
            throw NetlinkError("remove the filter of a netlink socket", error)
        }
        isFiltered = false
    }
}
