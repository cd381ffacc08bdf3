#if Fleet
import CLinux
import CMosquitto
import Glibc
import LinuxSupport

/// The event loop of one connection, on its own thread. The loops of the library are not used, because they reject
/// descriptors from 1024.
final class MosquittoLoop {
    /// The maximum time for sending the pending messages after the caller has closed the connection.
    private static let closeTimeout = Duration.seconds(5)
    /// Errors of `errno` that mean that an established connection has ended. The library uses EPROTO for a TLS
    /// connection that was refused.
    private static let ends: Set<SystemError> = [SystemError(rawValue: EPROTO), .connectionReset, .brokenPipe]

    private let options: BrokerOptions
    private let inbox: MosquittoConnection
    private let wakeup: Wakeup
    private let listener: @Sendable (BrokerEvent) -> Void
    /// The commands before the broker has accepted the connection. The library would send them immediately.
    private var waiting: [MosquittoConnection.Command] = []
    private var tokens: [CInt: PublishToken] = [:]
    /// True if a server has accepted the TCP connection.
    private var isOpen = false
    private var isConnected = false
    /// The deadline of an orderly close; nil if none is in progress.
    private var closing: Duration?
    private var end: BrokerError??

    init(
        _ options: BrokerOptions,
        _ inbox: MosquittoConnection,
        _ wakeup: Wakeup,
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
            return error(.failed("invalid client identifier \"\(name)\""))
        }
        if let login = options.login {
            let file = login.passwordFile
            guard let password = TextFile.read(file)?.split(at: "\n").first else {
                return error(.failed("cannot read a password from \(file)"))
            }
            let code = client.setLogin(login.user, String(password))
            guard code == 0 else { return error(.failed(MosquittoClient.text(of: code))) }
        }
        if options.address.isSecured {
            // The library reports a file that it cannot open only as an invalid argument.
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
            guard code == 0 else { return error(.failed("invalid will message: \(MosquittoClient.text(of: code))")) }
        }
        errno = 0
        let code = client.connect(options)
        if inbox.isAbandoned { return nil }
        guard code == 0 else { return failure(of: code, client) }
        isOpen = true
        client.setAcknowledgementTimeout(to: options.keepAlive)
        // The loop calls `keepAlive()` at least every quarter of the interval. Pings and their timeout are at most that
        // late.
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
            let ready = wait(socket, writing: client.wantsToWrite, atMost: limit)
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

    /// Waits until there is a command, the socket is ready, or the limit has passed.
    ///
    /// - Returns: The readiness of the socket for reading and writing, from `poll(2)`; false after a timeout or an
    ///   error.
    private func wait(_ socket: CInt, writing: Bool, atMost limit: Duration) -> (isReadable: Bool, isWritable: Bool) {
        let events = CInt(POLLIN) | (writing ? CInt(POLLOUT) : 0)
        var files = [
            pollfd(fd: wakeup.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(events), revents: 0),
        ]
        let milliseconds = CInt(clamping: (limit.nanoseconds + 999_999) / 1_000_000)
        guard poll(&files, nfds_t(files.count), milliseconds) > 0 else { return (false, false) }
        if files[0].revents != 0 { wakeup.clear() }
        let ready = CInt(files[1].revents)
        // An error of the socket is reported by the next read.
        return (ready & CInt(POLLIN | POLLERR | POLLHUP) != 0, ready & CInt(POLLOUT) != 0)
    }

    private func perform(_ command: MosquittoConnection.Command, _ client: MosquittoClient) {
        guard isConnected else {
            // A connection that the broker has not accepted has nothing to send, and ends immediately.
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
                end = error(.failed("invalid topic filter \"\(filter)\""))
            }
        case .close:
            closing = SystemClock.monotonic + Self.closeTimeout
            if tokens.isEmpty { client.disconnect() }
        case .abandon: break
        }
    }

    /// Passes the callbacks of the library to the listener.
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

    /// Returns the error of a return code of the library. It reads `errno`, so no other call may come between.
    private func failure(of code: CInt, _ client: MosquittoClient) -> BrokerError {
        let system = SystemError.current
        switch code {
        case CInt(MOSQ_ERR_EAI.rawValue):
            return error(.unknownHost(String(cString: gai_strerror(system.rawValue))))
        case CInt(MOSQ_ERR_TLS.rawValue), CInt(MOSQ_ERR_TLS_HANDSHAKE.rawValue):
            return error(HandshakeFailure(client.errors).cause)
        case CInt(MOSQ_ERR_KEEPALIVE.rawValue): return error(.silent)
        case CInt(MOSQ_ERR_CONN_LOST.rawValue), CInt(MOSQ_ERR_NO_CONN.rawValue): return error(loss(client))
        case CInt(MOSQ_ERR_ERRNO.rawValue):
            // A TLS client sends its first bytes within the connect call, so an established connection may already have
            // ended there.
            let isAnswered = isOpen || Self.ends.contains(system)
            guard isAnswered else { return error(.unreachable(system)) }
            return error(system == .timedOut ? .silent : loss(client))
        case CInt(MOSQ_ERR_CONN_REFUSED.rawValue): return error(.refused(.unspecifiedError))
        default: return error(.failed(MosquittoClient.text(of: code)))
        }
    }

    /// Returns the cause of the loss of an established connection. A peer may refuse a handshake without an alert. In
    /// TLS 1.3 the client learns that its certificate was refused only after it has completed its part of the
    /// handshake. If it writes first, it sees only a closed connection.
    private func loss(_ client: MosquittoClient) -> BrokerError.Cause {
        guard options.address.isSecured, !isConnected else { return .lost }
        if !client.errors.isEmpty { return HandshakeFailure(client.errors).cause }
        return .handshake("the connection ended in the handshake")
    }
}

/// A connection as its callers see it: a queue of commands for the thread of the connection. Thread-safe.
final class MosquittoConnection: BrokerConnection {
    enum Command: Sendable {
        case publish(PublishToken, BrokerMessage)
        case subscribe([String])
        case close, abandon
    }

    private struct State {
        var commands: [Command] = []
        var lastToken: UInt64 = 0
        var isAbandoned = false
        var wakeup: Wakeup?
    }

    private let state = Locked(State())

    func open(_ wakeup: Wakeup) {
        state.withLock { $0.wakeup = wakeup }
    }

    func publish(_ message: BrokerMessage) -> PublishToken {
        let token = state.withLock { state in
            state.lastToken += 1
            return PublishToken(state.lastToken)
        }
        add(.publish(token, message))
        return token
    }

    func subscribe(_ filters: [String]) { add(.subscribe(filters)) }

    func close() { add(.close) }

    func abandon() {
        state.withLock { $0.isAbandoned = true }
        add(.abandon)
    }

    private func add(_ command: Command) {
        let wakeup = state.withLock { state in
            state.commands.append(command)
            return state.wakeup
        }
        wakeup?.wake()
    }

    /// Returns and removes the pending commands.
    func take() -> [Command] {
        state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    var isAbandoned: Bool { state.withLock(\.isAbandoned) }

    /// Records that the thread has ended. Commands no longer wake it.
    func end() {
        state.withLock { $0.wakeup = nil }
    }
}
#endif
