#if Fleet
import CLinux
import Glibc
import LinuxSupport

/// How callers speak to the thread of a connection. Thread-safe.
final class ConnectionInbox: Sendable {
    enum Command: Sendable {
        case publish(PublishToken, BrokerMessage)
        case subscribe([String])
        case close, abandon
    }

    private struct State {
        var commands: [Command] = []
        var lastToken: UInt64 = 0
        var isAbandoned = false
        var wakeup: ConnectionWakeup?
    }

    private let state = Locked(State())

    func open(_ wakeup: ConnectionWakeup) {
        state.withLock { $0.wakeup = wakeup }
    }

    func add(_ message: BrokerMessage) -> PublishToken {
        let (token, wakeup) = state.withLock { state in
            state.lastToken += 1
            let token = PublishToken(state.lastToken)
            state.commands.append(.publish(token, message))
            return (token, state.wakeup)
        }
        wakeup?.wake()
        return token
    }

    func add(_ command: Command) {
        let wakeup = state.withLock { state in
            if case .abandon = command { state.isAbandoned = true }
            state.commands.append(command)
            return state.wakeup
        }
        wakeup?.wake()
    }

    /// What there is to do.
    func take() -> [Command] {
        state.withLock { state in
            let commands = state.commands
            state.commands = []
            return commands
        }
    }

    var isAbandoned: Bool { state.withLock(\.isAbandoned) }

    /// Nobody reads it any more.
    func end() {
        state.withLock { $0.wakeup = nil }
    }
}

/// Wakes the thread of a connection, any number of times.
///
/// C counterpart: `eventfd(2)`.
final class ConnectionWakeup: Sendable {
    private let descriptor: Descriptor

    init() throws(SystemError) {
        let number = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard number >= 0 else { throw .current }
        descriptor = Descriptor(owning: number)
    }

    func wake() {
        eventfd_write(descriptor.number, 1)
    }

    /// Waits until it is woken, a socket is ready, or time is up.
    ///
    /// - Returns: What is ready of the socket, in the words of `poll(2)`; nil for an error of its own.
    func wait(_ socket: CInt, writing: Bool, atMost limit: Duration) -> (isReadable: Bool, isWritable: Bool) {
        let events = CInt(POLLIN) | (writing ? CInt(POLLOUT) : 0)
        var files = [
            pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(events), revents: 0),
        ]
        let milliseconds = CInt(clamping: (limit.nanoseconds + 999_999) / 1_000_000)
        guard poll(&files, nfds_t(files.count), milliseconds) > 0 else { return (false, false) }
        if files[0].revents != 0 {
            var value: eventfd_t = 0
            eventfd_read(descriptor.number, &value)
        }
        let ready = CInt(files[1].revents)
        // What went wrong with a socket shows when it is read.
        return (ready & CInt(POLLIN | POLLERR | POLLHUP) != 0, ready & CInt(POLLOUT) != 0)
    }
}
#endif
