import CLinux
import Glibc

/// Waits for many sockets, for a moment, and for being woken. All but `wake()` is for one thread.
///
/// C counterpart: `epoll(7)`, `eventfd(2)`.
struct Poller: ~Copyable, Sendable {
    /// What a socket is known by that is none: the wakeup.
    private static let wakeup: UInt64 = 0

    private let epoll: Descriptor
    private let event: Descriptor

    init() throws(SocketError) {
        let epoll = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SocketError(.watch, .current) }
        let event = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard event >= 0 else {
            let error = SystemError.current
            close(epoll)
            throw SocketError(.watch, error)
        }
        self.epoll = Descriptor(owning: epoll)
        self.event = Descriptor(owning: event)
        _ = clinux_epoll_set(epoll, EPOLL_CTL_ADD, event, Readiness.readable.rawValue, Self.wakeup)
    }

    /// Ends the wait that is going on, or the next one. From any thread.
    func wake() {
        eventfd_write(event.number, 1)
    }

    /// - Parameter token: not 0; closing the socket takes it out.
    func add(_ socket: borrowing NetworkSocket, _ readiness: Readiness, token: UInt64) throws(SocketError) {
        let number = socket.descriptor.number
        guard clinux_epoll_set(epoll.number, EPOLL_CTL_ADD, number, readiness.rawValue, token) == 0 else {
            throw SocketError(.watch, .current)
        }
    }

    func change(_ socket: borrowing NetworkSocket, _ readiness: Readiness, token: UInt64) {
        _ = clinux_epoll_set(epoll.number, EPOLL_CTL_MOD, socket.descriptor.number, readiness.rawValue, token)
    }

    /// Takes a socket out that is not closed.
    func remove(_ socket: borrowing NetworkSocket) {
        _ = clinux_epoll_set(epoll.number, EPOLL_CTL_DEL, socket.descriptor.number, 0, 0)
    }

    /// Waits for at most `limit`, without one for ever, and says which sockets are ready.
    func wait(atMost limit: Duration?) -> [(token: UInt64, readiness: Readiness)] {
        let capacity = 64
        return withUnsafeTemporaryAllocation(of: clinux_ready.self, capacity: capacity) { ready in
            let count = clinux_epoll_wait(epoll.number, ready.baseAddress, CInt(capacity), Self.milliseconds(limit))
            return ready.prefix(max(0, Int(count))).compactMap { event in
                if event.token == Self.wakeup {
                    var value: eventfd_t = 0
                    eventfd_read(self.event.number, &value)
                    return nil
                }
                return (event.token, Readiness(rawValue: event.events))
            }
        }
    }

    /// Rounded up, for a moment that has not come is of no use.
    private static func milliseconds(_ limit: Duration?) -> CInt {
        guard let limit else { return -1 }
        return CInt(clamping: (limit.nanoseconds + 999_999) / 1_000_000)
    }
}

/// What can be done with a socket without waiting.
///
/// C counterpart: `epoll_ctl(2)`.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static let readable = Readiness(rawValue: 0x001)
    static let writable = Readiness(rawValue: 0x004)
    /// The connection is over; reported without being asked for, as errors are.
    static let hungUp = Readiness(rawValue: 0x010)
}
