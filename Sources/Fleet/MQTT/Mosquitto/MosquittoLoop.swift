#if Fleet
import CLinux
import CMosquitto
import Glibc
import LinuxSupport

/// The life of one connection, on a thread of its own. The library's own loops are not used: they refuse descriptors from 1024 on.
final class MosquittoLoop {
    /// The time for which pending messages are sent after the caller has closed.
    private static let farewell = Duration.seconds(5)
    /// What the system says of a connection that was there; EPROTO is the library's word for what TLS refused.
    private static let ends: Set<SystemError> = [SystemError(rawValue: EPROTO), .connectionReset, .brokenPipe]

    private let options: BrokerOptions
    private let inbox: ConnectionInbox
    private let wakeup: ConnectionWakeup
    private let listener: @Sendable (BrokerEvent) -> Void
    /// The messages before the broker has accepted the connection. The library would send them immediately.
    private var waiting: [ConnectionInbox.Command] = []
    private var tokens: [CInt: PublishToken] = [:]
    /// Whether a server has answered.
    private var isOpen = false
    private var isConnected = false
    /// Until when it may take to close.
    private var closing: Duration?
    private var end: BrokerError??

    init(
        _ options: BrokerOptions,
        _ inbox: ConnectionInbox,
        _ wakeup: ConnectionWakeup,
        _ listener: @escaping @Sendable (BrokerEvent) -> Void
    ) {
        (self.options, self.inbox, self.wakeup, self.listener) = (options, inbox, wakeup, listener)
    }

    func run() {
        let error = work()
        inbox.end()
        listener(.ended(error))
    }

    private func work() -> BrokerError? {
        let name = options.client
        guard let client = MosquittoClient(name, keepsSession: options.sessionExpiry > .zero, options.version) else {
            return error(.failed("\"\(name)\" is no name for a client"))
        }
        if options.address.isSecured {
            // The library says of a file that it cannot open only that an argument is wrong.
            for file in [options.tls.authority, options.tls.certificate, options.tls.key].compactMap(\.self) {
                do { _ = try Descriptor.open(file) } catch {
                    return self.error(.unusableFiles("\(file): \(error)"))
                }
            }
            let code = client.setTLS(options.tls)
            guard code == 0 else { return error(.unusableFiles(MosquittoClient.text(of: code))) }
        }
        if let will = options.will {
            let code = client.setWill(will)
            guard code == 0 else { return error(.failed("its will: \(MosquittoClient.text(of: code))")) }
        }
        errno = 0
        let code = client.connect(options)
        if inbox.isAbandoned { return nil }
        guard code == 0 else { return failure(of: code, client) }
        isOpen = true
        client.limitSilence(to: options.keepAlive)
        // A ping is due after the time of `keepAlive`; so it is sent, and its answer is missed, at most a quarter of that late.
        let patience = max(.seconds(1), options.keepAlive / 4)
        while true {
            for command in inbox.take() {
                if case .abandon = command { return nil }
                perform(command, client)
            }
            take(client)
            if let end { return end }
            if let closing, SystemClock.monotonic >= closing { return nil }
            let socket = client.socket
            guard socket >= 0 else { return closing == nil ? error(.lost) : nil }
            let limit = closing.map { min(patience, $0 - SystemClock.monotonic) } ?? patience
            let ready = wakeup.wait(socket, writing: client.wantsToWrite, atMost: limit)
            errno = 0
            var code: CInt = 0
            if ready.isReadable { code = client.read() }
            if code == 0, ready.isWritable, client.socket >= 0 { code = client.write() }
            if code == 0, client.socket >= 0 { code = client.keepAlive() }
            take(client)
            if let end { return end }
            if code != 0 { return closing == nil ? failure(of: code, client) : nil }
        }
    }

    private func perform(_ command: ConnectionInbox.Command, _ client: MosquittoClient) {
        guard isConnected else {
            // A connection that has not begun ends immediately.
            if case .close = command { end = .some(nil) } else { waiting.append(command) }
            return
        }
        switch command {
        case .publish(let token, let message):
            let (code, identifier) = client.publish(message)
            if code == 0 {
                tokens[identifier] = token
            } else {
                let isTooLarge = code == CInt(MOSQ_ERR_OVERSIZE_PACKET.rawValue)
                listener(.published(token, isTooLarge ? .packetTooLarge : .unspecifiedError))
            }
        case .subscribe(let filters):
            for filter in filters where client.subscribe(filter) != 0 {
                end = error(.failed("\"\(filter)\" is no filter of topics"))
            }
        case .close:
            closing = SystemClock.monotonic + Self.farewell
            if tokens.isEmpty { client.disconnect() }
        case .abandon: break
        }
    }

    /// Reports the callbacks of the library.
    private func take(_ client: MosquittoClient) {
        for report in client.takeReports() {
            switch report {
            case .connected(let reason, let sessionPresent):
                guard reason == .success else {
                    end = error(.refused(reason))
                    return
                }
                isConnected = true
                listener(.connected(sessionPresent: sessionPresent))
                let commands = waiting
                waiting = []
                for command in commands { perform(command, client) }
            case .published(let identifier, let reason):
                if let token = tokens.removeValue(forKey: identifier) { listener(.published(token, reason)) }
                if closing != nil, tokens.isEmpty { client.disconnect() }
            case .subscribed(let codes):
                if let code = codes.first(where: { $0 >= 0x80 }) {
                    end = error(.subscriptionRefused(ReasonCode(rawValue: UInt8(clamping: code))))
                } else {
                    listener(.subscribed)
                }
            case .message(let message): listener(.message(message))
            case .disconnected(let code):
                if closing != nil {
                    end = .some(nil)
                } else if code >= 0x80 {
                    end = error(.ended(ReasonCode(rawValue: UInt8(clamping: code))))
                }
            }
        }
    }

    private func error(_ cause: BrokerError.Cause) -> BrokerError { BrokerError(options.address, cause) }

    /// The error of a code of the library. Call it immediately, because it reads `errno`.
    private func failure(of code: CInt, _ client: MosquittoClient) -> BrokerError {
        let system = SystemError.current
        switch code {
        case CInt(MOSQ_ERR_EAI.rawValue):
            return error(.unknownHost(String(cString: gai_strerror(system.rawValue))))
        case CInt(MOSQ_ERR_TLS.rawValue), CInt(MOSQ_ERR_TLS_HANDSHAKE.rawValue):
            return error(TLSComplaint(client.complaints).cause)
        case CInt(MOSQ_ERR_KEEPALIVE.rawValue): return error(.silent)
        case CInt(MOSQ_ERR_CONN_LOST.rawValue), CInt(MOSQ_ERR_NO_CONN.rawValue): return error(loss(client))
        case CInt(MOSQ_ERR_ERRNO.rawValue):
            // The first bytes of TLS are sent by what connects.
            let isAnswered = isOpen || Self.ends.contains(system)
            guard isAnswered else { return error(.unreachable(system)) }
            return error(system == .timedOut ? .silent : loss(client))
        case CInt(MOSQ_ERR_CONN_REFUSED.rawValue): return error(.refused(.unspecifiedError))
        default: return error(.failed(MosquittoClient.text(of: code)))
        }
    }

    /// Why a connection ended that was open. Who refuses a handshake may do so without a word; and in TLS 1.3 a client hears of a refusal
    /// of its certificate after its own part of it, or, where it writes first, only that the connection is over.
    private func loss(_ client: MosquittoClient) -> BrokerError.Cause {
        guard options.address.isSecured, !isConnected else { return .lost }
        if !client.complaints.isEmpty { return TLSComplaint(client.complaints).cause }
        return .handshake("the connection ended in the handshake")
    }
}

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

    /// The pending requests.
    func take() -> [Command] {
        state.withLock { state in
            let commands = state.commands
            state.commands = []
            return commands
        }
    }

    var isAbandoned: Bool { state.withLock(\.isAbandoned) }

    /// The reader has ended.
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
    /// - Returns: The events of the socket as of `poll(2)`; nil for an error.
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
