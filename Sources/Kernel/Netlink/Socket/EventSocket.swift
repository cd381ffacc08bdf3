import CLinux
import Glibc
import LinuxPrimitives

/// The socket that listens. Nothing is ever asked on it: after an overrun the answer would be lost for good.
///
/// Thread-safe as far as it is used: `join`, `leave`, `setFilter` and `descriptor` from any thread, reading from one queue.
package final class EventSocket: @unchecked Sendable {
    let socket: NetlinkSocket
    /// Whether the kernel has a filter of ours, behind a lock that also puts changes of it in line.
    let isFiltered = Locked(false)
    /// Only heads are read; the kernel cuts the rest off.
    private let buffer: DatagramBuffer
    /// Messages read in one go before the reader looks at what they mean; the rest stays readable.
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

    /// Begins to hear of changes. Call it before the first look, so that nothing falls in between.
    package func join() throws(NetlinkError) {
        for group in MulticastGroup.reachability { try socket.join(group) }
    }

    package func leave() {
        for group in MulticastGroup.reachability { socket.leave(group) }
    }

    /// Reads what is there, without waiting; but when messages were lost, that is told before what the kernel kept is read,
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
            } catch {
                count = 0
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

    /// Makes short waits of the calling thread, which is to be a listener's own, end on time, and lets it run at once when it
    /// wakes up.
    package static func prepareThread() {
        clinux_set_timer_slack()
        clinux_set_short_slice()
    }

    /// Blocks until there is something to read, for as long as it takes.
    package func wait() {
        _ = clinux_ppoll_readable(descriptor, nil)
    }

    /// Wakes whoever is in `wait()`, without a descriptor of its own: asks for the loopback link. Should the answer be lost
    /// in an overrun, that wakes as well.
    package func interruptWait() {
        var request = RequestBuilder()
        request.begin(.getLink, sequence: 0)
        request.append(ifinfomsg(index: 1))
        try? socket.send(request.bytes)
    }

    /// Blocks up to `limit` for more to read, and says whether there is.
    package func wait(atMost limit: Duration) -> Bool {
        var limit = limit.timespec
        return clinux_ppoll_readable(descriptor, &limit) > 0
    }
}
