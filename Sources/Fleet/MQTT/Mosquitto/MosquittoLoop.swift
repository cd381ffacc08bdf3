#if Fleet
import CMosquitto
import Glibc
import LinuxSupport

/// The life of one connection, on a thread of its own. The library's own loops are not used: they refuse descriptors from 1024 on.
final class MosquittoLoop {
    /// What was published is sent so long after the caller has closed.
    private static let farewell = Duration.seconds(5)
    /// What the system says of a connection that was there; EPROTO is the library's word for what TLS refused.
    private static let ends: Set<SystemError> = [SystemError(rawValue: EPROTO), .connectionReset, .brokenPipe]

    private let options: BrokerOptions
    private let inbox: ConnectionInbox
    private let wakeup: ConnectionWakeup
    private let listener: @Sendable (BrokerEvent) -> Void
    /// What was handed over before the broker had accepted the connection, for the library would send it at once.
    private var waiting: [ConnectionInbox.Command] = []
    private var tokens: [CInt: PublishToken] = [:]
    /// Whether somebody has answered there.
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
            // Who has not begun ends at once.
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

    /// Tells what the library has told.
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

    /// What a code of the library means. It must be asked at once, for `errno` belongs to it.
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
#endif
