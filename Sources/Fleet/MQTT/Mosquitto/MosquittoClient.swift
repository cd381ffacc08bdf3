#if Fleet
import CLinux
import CMosquitto
import Glibc
import LinuxSupport

/// A client of libmosquitto, for one connection and one thread. What the library calls back with is put aside, for it holds locks then.
///
/// C counterpart: `libmosquitto(3)`.
final class MosquittoClient {
    /// What the library told during the last calls.
    enum Report {
        case connected(ReasonCode, sessionPresent: Bool)
        case published(CInt, ReasonCode)
        case subscribed([CInt])
        case message(BrokerMessage)
        case disconnected(CInt)
    }

    private(set) var reports: [Report] = []
    /// What went wrong with TLS, in the words of OpenSSL and of the library, the latest last.
    private(set) var complaints: [String] = []
    private let client: OpaquePointer
    private let version: ProtocolVersion
    private static let library: CInt = {
        cmosquitto_keep_openssl()
        return mosquitto_lib_init()
    }()

    /// Nil without memory, or for a name that is none.
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

    /// Takes what was told.
    func takeReports() -> [Report] {
        defer { reports = [] }
        return reports
    }

    // MARK: What it is told

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
        // They are the library's from then on.
        if code != CInt(MOSQ_ERR_SUCCESS.rawValue) { mosquitto_property_free_all(&properties) }
        return code
    }

    /// Blocks while a name is looked up, and until one of its addresses answers. On success the handshakes have begun.
    ///
    /// C counterpart: `mosquitto_connect_bind_v5`.
    func connect(_ options: BrokerOptions) -> CInt {
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        add(MQTT_PROP_SESSION_EXPIRY_INTERVAL, options.sessionExpiry, to: &properties)
        let host = options.address.host
        return AddressTimer.during(BrokerLink.patience - .seconds(2)) {
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

    // MARK: What it does

    /// Negative when there is none.
    var socket: CInt { mosquitto_socket(client) }

    var wantsToWrite: Bool { mosquitto_want_write(client) }

    /// C counterpart: `mosquitto_loop_read`.
    func read() -> CInt { mosquitto_loop_read(client, 1) }

    /// C counterpart: `mosquitto_loop_write`.
    func write() -> CInt { mosquitto_loop_write(client, 1) }

    /// Sends pings when it is time for them. C counterpart: `mosquitto_loop_misc`.
    func keepAlive() -> CInt { mosquitto_loop_misc(client) }

    /// What was sent and not acknowledged for so long breaks the connection. C counterpart: TCP_USER_TIMEOUT of `tcp(7)`.
    func limitSilence(to limit: Duration) {
        var milliseconds = CUnsignedInt(clamping: limit.nanoseconds / 1_000_000)
        setsockopt(socket, CInt(IPPROTO_TCP), 18, &milliseconds, socklen_t(MemoryLayout<CUnsignedInt>.size))
    }

    static func text(of code: CInt) -> String { String(cString: mosquitto_strerror(code)) }

    private func add(_ property: mqtt5_property, _ seconds: Duration?, to list: inout OpaquePointer?) {
        // Version 3.1.1 has no properties, and the library refuses them there.
        guard version == .five, let seconds else { return }
        mosquitto_property_add_int32(&list, CInt(property.rawValue), UInt32(clamping: seconds.components.seconds))
    }

    // MARK: What the library calls

    private static func client(_ pointer: UnsafeMutableRawPointer?) -> MosquittoClient? {
        pointer.map { Unmanaged<MosquittoClient>.fromOpaque($0).takeUnretainedValue() }
    }

    private func setCallbacks() {
        mosquitto_connect_v5_callback_set(client) { _, me, code, flags, _ in
            guard let client = MosquittoClient.client(me) else { return }
            let number = UInt8(clamping: code)
            // The library says itself in the words of version 5 that a broker has refused that version in those of 3.1.1.
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
            MosquittoClient.client(me)?.complaints.append(String(cString: text))
        }
    }
}
#endif
