#if Fleet
import CLinux
import CMosquitto
import Glibc
import LinuxSupport

/// A libmosquitto client, for one connection and one thread. The callbacks only store their arguments, because the
/// library holds locks while it calls them.
///
/// C counterpart: `libmosquitto(3)`.
final class MosquittoClient {
    /// A callback of the library.
    enum Report {
        case connected(ReasonCode, sessionPresent: Bool)
        case published(CInt, ReasonCode)
        case subscribed([CInt])
        case message(BrokerMessage)
        case disconnected(CInt)
    }

    // The callbacks since the last call of `takeReports()`.
    private(set) var reports: [Report] = []
    /// The error messages of OpenSSL and of the library, the latest last.
    private(set) var errors: [String] = []
    private let client: OpaquePointer
    private let version: ProtocolVersion
    private static let library: CInt = {
        cmosquitto_keep_openssl()
        return mosquitto_lib_init()
    }()

    /// Returns nil if there is no memory or if the client identifier is invalid.
    init?(_ name: String, keepsSession: Bool, _ version: ProtocolVersion) {
        _ = Self.library
        guard let client = mosquitto_new(name, !keepsSession, nil) else { return nil }
        (self.client, self.version) = (client, version)
        mosquitto_user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
        let number = version == .five ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
        mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, CInt(number))
        mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
        setCallbacks()
    }

    deinit {
        mosquitto_destroy(client)
    }

    /// Returns and removes the stored callbacks.
    func takeReports() -> [Report] {
        defer { reports = [] }
        return reports
    }

    // MARK: Configuration and commands

    /// C counterpart: `mosquitto_username_pw_set`.
    func setLogin(_ user: String, _ password: String) -> CInt { mosquitto_username_pw_set(client, user, password) }

    /// C counterpart: `mosquitto_tls_set`.
    func setTLS(_ files: BrokerOptions.TLS) -> CInt {
        let directory = files.authority == nil ? "/etc/ssl/certs" : nil
        return mosquitto_tls_set(client, files.authority, directory, files.certificate, files.key, nil)
    }

    /// C counterpart: `mosquitto_will_set_v5`.
    func setWill(_ will: BrokerWill) -> CInt {
        var properties: OpaquePointer?
        add(MQTT_PROP_WILL_DELAY_INTERVAL, will.delay, to: &properties)
        add(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL, will.message.expiry, to: &properties)
        let message = will.message
        let code = mosquitto_will_set_v5(
            client,
            message.topic,
            CInt(message.payload.count),
            message.payload,
            1,
            message.isRetained,
            properties
        )
        // After success the library owns the properties.
        if code != CInt(MOSQ_ERR_SUCCESS.rawValue) { mosquitto_property_free_all(&properties) }
        return code
    }

    /// Resolves the host name and connects over TCP. Blocks until an address answers. After success the handshakes of
    /// TLS and MQTT have started.
    ///
    /// C counterpart: `mosquitto_connect_bind_v5`.
    func connect(_ options: BrokerOptions) -> CInt {
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        add(MQTT_PROP_SESSION_EXPIRY_INTERVAL, options.sessionExpiry, to: &properties)
        let host = options.address.host
        return AddressTimer.during(BrokerLink.connectTimeout - .seconds(2)) {
            WireAddress(host) != nil ? 1 : (try? NameLookup.addresses(of: host))?.count ?? 1
        } _: {
            mosquitto_connect_bind_v5(
                client,
                host,
                CInt(options.address.port),
                CInt(max(5, options.keepAlive.components.seconds)),
                nil,
                properties
            )
        }
    }

    /// C counterpart: `mosquitto_publish_v5`.
    func publish(_ message: BrokerMessage) -> (code: CInt, identifier: CInt) {
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        add(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL, message.expiry, to: &properties)
        var identifier: CInt = 0
        let code = mosquitto_publish_v5(
            client,
            &identifier,
            message.topic,
            CInt(clamping: message.payload.count),
            message.payload,
            1,
            message.isRetained,
            properties
        )
        return (code, identifier)
    }

    /// C counterpart: `mosquitto_subscribe_v5`.
    func subscribe(_ filter: String) -> CInt {
        mosquitto_subscribe_v5(client, nil, filter, 1, 0, nil)
    }

    /// C counterpart: `mosquitto_disconnect_v5`.
    func disconnect() {
        mosquitto_disconnect_v5(client, 0, nil)
    }

    // MARK: State and input/output

    /// The descriptor of the connection; negative without a connection.
    var socket: CInt { mosquitto_socket(client) }

    var wantsToWrite: Bool { mosquitto_want_write(client) }

    /// C counterpart: `mosquitto_loop_read`.
    func read() -> CInt { mosquitto_loop_read(client, 1) }

    /// C counterpart: `mosquitto_loop_write`.
    func write() -> CInt { mosquitto_loop_write(client, 1) }

    /// Sends a ping if one is due. C counterpart: `mosquitto_loop_misc`.
    func keepAlive() -> CInt { mosquitto_loop_misc(client) }

    /// Sets the time after which unacknowledged data breaks the connection. C counterpart: TCP_USER_TIMEOUT (18) of
    /// `tcp(7)`.
    func setAcknowledgementTimeout(to limit: Duration) {
        var milliseconds = CUnsignedInt(clamping: limit.nanoseconds / 1_000_000)
        setsockopt(socket, CInt(IPPROTO_TCP), 18, &milliseconds, socklen_t(MemoryLayout<CUnsignedInt>.size))
    }

    static func text(of code: CInt) -> String { String(cString: mosquitto_strerror(code)) }

    private func add(_ property: mqtt5_property, _ seconds: Duration?, to list: inout OpaquePointer?) {
        // MQTT 3.1.1 has no properties, and the library rejects them.
        guard version == .five, let seconds else { return }
        mosquitto_property_add_int32(&list, CInt(property.rawValue), UInt32(clamping: seconds.components.seconds))
    }

    // MARK: Callbacks of the library

    private static func client(_ pointer: UnsafeMutableRawPointer?) -> MosquittoClient? {
        pointer.map { Unmanaged<MosquittoClient>.fromOpaque($0).takeUnretainedValue() }
    }

    private func setCallbacks() {
        mosquitto_connect_v5_callback_set(client) { _, me, code, flags, _ in
            guard let client = MosquittoClient.client(me) else { return }
            let number = UInt8(clamping: code)
            // When a broker refuses MQTT 5 with a code of MQTT 3.1.1, the library translates the code.
            let reason = client.version == .five ? ReasonCode(rawValue: number) : ReasonCode(returnCode: number)
            client.reports.append(.connected(reason, sessionPresent: flags & 1 != 0))
        }
        mosquitto_disconnect_v5_callback_set(client) { _, me, code, _ in
            MosquittoClient.client(me)?.reports.append(.disconnected(code))
        }
        mosquitto_publish_v5_callback_set(client) { _, me, identifier, code, _ in
            MosquittoClient.client(me)?.reports.append(
                .published(identifier, ReasonCode(rawValue: UInt8(clamping: code)))
            )
        }
        mosquitto_subscribe_v5_callback_set(client) { _, me, _, count, granted, _ in
            let codes = Array(UnsafeBufferPointer(start: granted, count: Int(count)))
            MosquittoClient.client(me)?.reports.append(.subscribed(codes))
        }
        mosquitto_message_v5_callback_set(client) { _, me, message, _ in
            guard let message = message?.pointee, let topic = message.topic else { return }
            let payload = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
            MosquittoClient.client(me)?.reports.append(
                .message(
                    BrokerMessage(topic: String(cString: topic), payload: Array(payload), isRetained: message.retain)
                )
            )
        }
        mosquitto_log_callback_set(client) { _, me, level, text in
            guard level == CInt(MOSQ_LOG_ERR), let text else { return }
            MosquittoClient.client(me)?.errors.append(String(cString: text))
        }
    }
}

/// The libmosquitto implementation of ``MessageBroker``. Each connection has its own thread, which ends with the
/// connection.
package struct MosquittoBroker: MessageBroker {
    package init() {}

    package func connect(
        _ options: BrokerOptions,
        listener: @escaping @Sendable (BrokerEvent) -> Void
    ) -> any BrokerConnection {
        let connection = MosquittoConnection()
        do {
            let wakeup = try Wakeup()
            connection.open(wakeup)
            try Thread.detach { MosquittoLoop(options, connection, wakeup, listener).run() }
        } catch {
            listener(.ended(BrokerError(options.address, .failed("cannot start a thread: \(error)"))))
        }
        return connection
    }
}

/// A timeout for each address of a broker. Libmosquitto tries one address after another, and waits for each until
/// the kernel gives up after two minutes. A signal interrupts the current `connect(2)` with EINTR, and the library then
/// tries the next address.
enum AddressTimer {
    /// The maximum time for an address that is not the last.
    private static let longest = Duration.seconds(3)
    private static let tick = Duration.milliseconds(100)

    /// A signal that is ignored by default and that this process does not use otherwise.
    private static let signal = SIGURG

    private static let handler: Void = {
        // Without SA_RESTART, because `connect(2)` has to return.
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        sigaction(signal, &action, nil)
    }()

    /// Runs `connect`, which calls `connect(2)` on the calling thread for one address after another.
    ///
    /// - Parameters:
    ///   - patience: The maximum time for all addresses together.
    ///   - count: Returns the number of addresses. It may block. It is called on another thread.
    static func during<Value>(
        _ patience: Duration,
        count: @escaping @Sendable () -> Int,
        _ connect: () -> Value
    ) -> Value {
        guard let place = currentThread else { return connect() }
        _ = handler
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, signal)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        defer { pthread_sigmask(SIG_BLOCK, &set, nil) }
        let thread = pthread_self()
        let isOver = Locked(false)
        let end = Latch()
        try? Thread.detach {
            let addresses = count()
            // The last address has the remaining time.
            var left = addresses - 1
            let limit = min(longest, patience / max(1, addresses))
            var time = Duration.zero
            while left > 0, !end.wait(atMost: tick) {
                time = isConnecting(place) ? time + tick : .zero
                guard time >= limit else { continue }
                // The thread is valid while `isOver` is false.
                isOver.withLock { isOver in
                    if !isOver { _ = pthread_kill(thread, signal) }
                }
                (time, left) = (.zero, left - 1)
            }
        }
        let value = connect()
        isOver.withLock { $0 = true }
        end.open()
        return value
    }

    /// The `/proc` directory of the calling thread; nil if `/proc` is not mounted.
    private static var currentThread: String? { FileName.target(of: "/proc/thread-self").map { "/proc/" + $0 } }

    /// True if the thread is blocked in `connect(2)`, not in the name service.
    private static func isConnecting(_ thread: String) -> Bool {
        TextFile.read(thread + "/syscall")?.hasPrefix("\(cmosquitto_connect_number) ") ?? false
    }
}

/// The cause of a failed handshake, from the log messages of the library and of OpenSSL. Only the log contains the
/// reason.
struct HandshakeFailure {
    private let lines: [String]

    init(_ lines: [String]) {
        self.lines = lines
    }

    var cause: BrokerError.Cause {
        if lines.contains(where: { $0.contains("host name verification failed") }) { return .wrongName }
        if let line = lines.first(where: { $0.hasPrefix("Error: Unable to load") || $0.contains("inconsistent") }) {
            return .unusableFiles(Self.words(line))
        }
        // The TLS alert of the peer, for example "tlsv13 alert certificate required".
        if let line = lines.last(where: { $0.contains(" alert ") }) { return .handshake(Self.words(line)) }
        if let line = lines.last(where: { $0.contains("certificate verify failed") }) {
            return .untrusted(Self.words(line))
        }
        return .handshake(lines.last.map(Self.words) ?? "the handshake failed")
    }

    /// Removes the prefix of OpenSSL, for example `error:0A000086:SSL routines::` of `error:0A000086:SSL
    /// routines::certificate verify failed`.
    private static func words(_ line: String) -> String {
        guard line.hasPrefix("OpenSSL Error"), let words = line.split(at: ":").last else {
            return line.hasPrefix("Error: ") ? String(line.dropFirst("Error: ".count)) : line
        }
        return String(words)
    }
}
#endif
