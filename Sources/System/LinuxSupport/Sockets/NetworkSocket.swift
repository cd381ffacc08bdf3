import CLinux
import Glibc

/// The only owner of a non-blocking socket whose error queue reports ICMP errors with senders, hop limits and
/// timestamps.
///
/// C counterpart: `socket(2)`, `ip(7)`, `ipv6(7)`.
struct NetworkSocket: ~Copyable {
    /// The receive buffer of ping sockets in bytes. The system may limit it (`net.core.rmem_max`). A burst of answers
    /// would overflow the default buffer.
    private static let bufferSize: CInt = 4 << 20

    let descriptor: Descriptor
    let kind: SocketKind
    let family: AddressFamily

    private init(_ kind: SocketKind, _ family: AddressFamily, owning number: CInt) {
        descriptor = Descriptor(owning: number)
        self.kind = kind
        self.family = family
    }

    /// Opens a socket in the calling thread's network namespace.
    static func open(
        _ kind: SocketKind,
        _ family: AddressFamily,
        _ settings: SocketSettings = .init()
    ) throws(SocketError) -> NetworkSocket {
        let number = kind.open(family)
        guard number >= 0 else { throw SocketError(kind.step, .current) }
        let socket = NetworkSocket(kind, family, owning: number)
        try socket.keepErrors()
        if kind != .tcp { try socket.enableTimestamps() }
        // A ping socket is shared by many requests.
        if kind == .ping { try socket.set(OptionLevel.socket, SO_RCVBUF, bufferSize, "SO_RCVBUF") }
        try socket.apply(settings)
        return socket
    }

    /// Enables the error queue, and the hop limits of received packets.
    private func keepErrors() throws(SocketError) {
        switch family {
        case .ipv4:
            try set(OptionLevel.ipv4, IP_RECVERR, 1, "IP_RECVERR")
            try set(OptionLevel.ipv4, IP_RECVTTL, 1, "IP_RECVTTL")
        case .ipv6:
            try set(OptionLevel.ipv6, IPV6_V6ONLY, 1, "IPV6_V6ONLY")
            try set(OptionLevel.ipv6, IPV6_RECVERR, 1, "IPV6_RECVERR")
            try set(OptionLevel.ipv6, IPV6_RECVHOPLIMIT, 1, "IPV6_RECVHOPLIMIT")
        }
    }

    /// Enables timestamps of sent and received packets. A second call restarts the numbers of sent packets at 0.
    func enableTimestamps() throws(SocketError) {
        let receiving = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE
        let sending =
            SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_OPT_ID
            | SOF_TIMESTAMPING_OPT_TSONLY
        try set(OptionLevel.socket, CInt(clinux_so_timestamping), CInt(receiving), "SO_TIMESTAMPING")
        try set(OptionLevel.socket, CInt(clinux_so_timestamping), CInt(receiving | sending), "SO_TIMESTAMPING")
    }

    private func apply(_ settings: SocketSettings) throws(SocketError) {
        if let mark = settings.mark { try set(OptionLevel.socket, SO_MARK, CInt(bitPattern: mark), .setMark(mark)) }
        if let name = settings.interface {
            let code = setsockopt(descriptor.number, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.utf8.count))
            guard code == 0 else { throw SocketError(.bindToInterface(name), .current) }
        }
        if let size = settings.receiveBuffer { try set(OptionLevel.socket, SO_RCVBUF, size, "SO_RCVBUF") }
        if let priority = settings.priority { try set(OptionLevel.socket, SO_PRIORITY, priority, "SO_PRIORITY") }
        if let limit = settings.hopLimit {
            switch family {
            case .ipv4: try set(OptionLevel.ipv4, IP_TTL, CInt(limit), "IP_TTL")
            case .ipv6: try set(OptionLevel.ipv6, IPV6_UNICAST_HOPS, CInt(limit), "IPV6_UNICAST_HOPS")
            }
        }
        if let mode = settings.fragmentation?.rawValue {
            switch family {
            case .ipv4: try set(OptionLevel.ipv4, IP_MTU_DISCOVER, mode, "IP_MTU_DISCOVER")
            case .ipv6: try set(OptionLevel.ipv6, IPV6_MTU_DISCOVER, mode, "IPV6_MTU_DISCOVER")
            }
        }
        if kind == .tcp, let size = settings.maximumSegment {
            try set(OptionLevel.tcp, TCP_MAXSEG, CInt(size), "TCP_MAXSEG")
        }
        if let source = settings.source {
            guard source.withSocketAddress({ bind(descriptor.number, $0, $1) }) == 0 else {
                throw SocketError(.bindToAddress(source), .current)
            }
        }
    }

    /// Sets an option with an integer value.
    func set(_ level: CInt, _ option: CInt, _ value: CInt, _ step: SocketError.Step) throws(SocketError) {
        var value = value
        let code = setsockopt(descriptor.number, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
        guard code == 0 else { throw SocketError(step, .current) }
    }

    private func set(_ level: CInt, _ option: CInt, _ value: CInt, _ name: String) throws(SocketError) {
        try set(level, option, value, .setOption(name))
    }

    /// Connects to an endpoint. A UDP socket only sets its peer.
    func connect(to endpoint: SocketEndpoint) throws(SocketError) {
        let code = endpoint.withSocketAddress { Glibc.connect(descriptor.number, $0, $1) }
        guard code == 0 || errno == EINPROGRESS else { throw SocketError(.connect(endpoint), .current) }
    }

    /// The local address; nil while it is not chosen.
    var localEndpoint: SocketEndpoint? {
        var storage = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let code = withUnsafeMutableBytes(of: &storage) { memory in
            memory.withMemoryRebound(to: sockaddr.self) { getsockname(descriptor.number, $0.baseAddress, &length) }
        }
        guard code == 0 else { return nil }
        let endpoint = withUnsafeBytes(of: &storage) { SocketEndpoint($0.bytes(from: 0, length: Int(length))) }
        return endpoint?.address.isUnspecified == true ? nil : endpoint
    }

    /// Returns and clears the pending error. Reading the error queue clears it too, so call this function first.
    ///
    /// C counterpart: SO_ERROR of `socket(7)`.
    func takeError() -> SystemError? {
        var number: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(descriptor.number, SOL_SOCKET, SO_ERROR, &number, &length) == 0 else { return .current }
        return number == 0 ? nil : SystemError(rawValue: number)
    }

    /// Sends to the connected peer.
    func send(_ bytes: [UInt8]) throws(SystemError) {
        let flags = CInt(MSG_DONTWAIT | MSG_NOSIGNAL)
        guard Glibc.send(descriptor.number, bytes, bytes.count, flags) >= 0 else { throw .current }
    }

    /// Returns the descriptor without its wrapper.
    consuming func release() -> Descriptor { descriptor }
}

/// The protocol levels of socket options.
///
/// C counterpart: the level of `getsockopt(2)`.
enum OptionLevel {
    static let socket = SOL_SOCKET
    static let ipv4 = CInt(IPPROTO_IP)
    static let ipv6 = CInt(IPPROTO_IPV6)
    static let tcp = CInt(IPPROTO_TCP)
}

/// The kinds of sockets that an unprivileged user may open.
package enum SocketKind: Hashable, Sendable {
    case udp
    /// ICMP echoes without a raw socket: SOCK_DGRAM with IPPROTO_ICMP, `icmp(7)`.
    case ping
    case tcp

    var step: SocketError.Step {
        switch self {
        case .udp: .openDatagramSocket
        case .ping: .openPingSocket
        case .tcp: .openStreamSocket
        }
    }

    /// Opens a non-blocking socket; negative after an error.
    func open(_ family: AddressFamily) -> CInt {
        let stream = self == .tcp ? SOCK_STREAM : SOCK_DGRAM
        let kind = stream.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let ping = family == .ipv4 ? IPPROTO_ICMP : IPPROTO_ICMPV6
        return socket(CInt(family.rawValue), CInt(kind), self == .ping ? CInt(ping) : 0)
    }
}

extension NetworkSocket {
    /// Sets the number of SYN retransmissions (TCP_SYNCNT).
    func setSynRetries(_ count: UInt8) throws(SocketError) {
        try set(OptionLevel.tcp, TCP_SYNCNT, CInt(max(1, count)), .setOption("TCP_SYNCNT"))
    }

    /// Delays acknowledgements, also that of the SYN-ACK, until they can be sent with data (TCP_QUICKACK of 0). Received
    /// data resets this mode.
    func delayAcknowledgements() {
        try? set(OptionLevel.tcp, TCP_QUICKACK, 0, .setOption("TCP_QUICKACK"))
    }

    /// Sends as many bytes as the socket accepts.
    ///
    /// - Returns: The number of bytes sent; 0 if the buffer is full.
    func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
        let flags = CInt(MSG_DONTWAIT | MSG_NOSIGNAL)
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor.number, $0.baseAddress, $0.count, flags) }
        guard count < 0 else { return count }
        let error = SystemError.current
        guard error == .tryAgain || error == .interrupted else { throw error }
        return 0
    }

    /// Reads available bytes.
    ///
    /// - Parameter limit: The maximum number of bytes, more than 0.
    /// - Returns: An empty array at the end of the stream; nil if no bytes are available.
    func read(atMost limit: Int) throws(SystemError) -> [UInt8]? {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { memory, length in
            count = recv(descriptor.number, memory.baseAddress, limit, CInt(MSG_DONTWAIT))
            length = max(0, count)
        }
        if count >= 0 { return bytes }
        let error = SystemError.current
        guard error == .tryAgain || error == .interrupted else { throw error }
        return nil
    }

    /// The kernel's measurements; nil for sockets other than TCP.
    var information: TCPInformation? { TCPInformation(ofSocket: descriptor.number) }
}

extension TCPInformation {
    init?(ofSocket number: CInt) {
        var length = socklen_t(256)
        let information = withUnsafeTemporaryAllocation(byteCount: Int(length), alignment: 8) { memory in
            guard getsockopt(number, OptionLevel.tcp, TCP_INFO, memory.baseAddress, &length) == 0 else {
                return TCPInformation?.none
            }
            return TCPInformation(UnsafeRawBufferPointer(memory).bytes(from: 0, length: Int(length)))
        }
        guard let information else { return nil }
        self = information
    }
}

extension Descriptor {
    /// Makes close(2) send a reset and discard all state (SO_LINGER of 0 s).
    func resetWhenClosed() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    /// Disables the error queue for the next owner of the socket, which does not read it.
    func ignoreErrorQueue() {
        var off: CInt = 0
        let size = socklen_t(MemoryLayout<CInt>.size)
        setsockopt(number, OptionLevel.ipv4, IP_RECVERR, &off, size)
        setsockopt(number, OptionLevel.ipv6, IPV6_RECVERR, &off, size)
    }
}

/// The address and port of one end of a connection or packet. ICMP has no port.
///
/// C counterpart: `sockaddr_in`, `sockaddr_in6`.
package struct SocketEndpoint: Hashable, Sendable {
    package var address: WireAddress
    /// The port in host byte order; 0 for none or any.
    package var port: UInt16
    /// The interface of an IPv6 link-local address (`sin6_scope_id`); 0 for none.
    package var interfaceIndex: UInt32

    package init(_ address: WireAddress, port: UInt16 = 0, interfaceIndex: UInt32 = 0) {
        self.address = address
        self.port = port
        self.interfaceIndex = interfaceIndex
    }

    package var family: AddressFamily { address.family }
}

extension SocketEndpoint: CustomStringConvertible {
    /// A text such as `192.0.2.1:53` or `[2001:db8::1]:53`. Without a port, only the address.
    package var description: String {
        let zone = interfaceIndex == 0 ? "" : "%\(interfaceIndex)"
        if port == 0 { return "\(address)\(zone)" }
        return family == .ipv4 ? "\(address):\(port)" : "[\(address)\(zone)]:\(port)"
    }
}

extension SocketEndpoint {
    /// Reads a `sockaddr` of IPv4 or IPv6. Returns nil for any other family, and if the bytes are too short.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let family = bytes.load(UInt16.self, at: 0), let port = bytes.load(UInt16.self, at: 2) else { return nil }
        switch CInt(family) {
        case AF_INET:
            guard let address = WireAddress(bytes: Array(bytes.bytes(from: 4, length: 4))) else { return nil }
            self.init(address, port: UInt16(bigEndian: port))
        case AF_INET6:
            guard let address = WireAddress(bytes: Array(bytes.bytes(from: 8, length: 16))), address.family == .ipv6
            else { return nil }
            let scope = bytes.load(UInt32.self, at: 24) ?? 0
            self.init(address, port: UInt16(bigEndian: port), interfaceIndex: scope)
        default: return nil
        }
    }

    /// The bytes of a `sockaddr_in` or `sockaddr_in6`.
    var socketAddress: [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: UInt16(family.rawValue)) { bytes += $0 }
        withUnsafeBytes(of: port.bigEndian) { bytes += $0 }
        switch family {
        case .ipv4: bytes += address.bytes + [UInt8](repeating: 0, count: 8)
        case .ipv6:
            bytes += [0, 0, 0, 0] + address.bytes
            withUnsafeBytes(of: interfaceIndex) { bytes += $0 }
        }
        return bytes
    }

    /// Calls `body` with the arguments of `bind(2)` and `connect(2)`.
    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        // The memory has the alignment of sockaddr_in6.
        var storage = sockaddr_in6()
        let bytes = socketAddress
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
        }
    }
}

/// The options of a socket. For nil the system's default applies.
package struct SocketSettings: Hashable, Sendable {
    /// The source address (`bind(2)`).
    package var source: SocketEndpoint?
    /// The only interface through which packets are sent and received (SO_BINDTODEVICE).
    package var interface: String?
    /// The packet mark for routing rules and firewalls (SO_MARK). It requires CAP_NET_ADMIN or CAP_NET_RAW.
    package var mark: UInt32?
    /// The hop limit (TTL) of sent packets (IP_TTL, IPV6_UNICAST_HOPS).
    package var hopLimit: UInt8?
    /// The maximum payload of a TCP segment in bytes (TCP_MAXSEG).
    package var maximumSegment: UInt16?
    /// The priority for queueing disciplines (SO_PRIORITY), 0 to 6 for unprivileged users.
    package var priority: CInt?
    package var fragmentation: Fragmentation?
    /// The receive buffer in bytes (SO_RCVBUF). If nil, the kernel sizes it.
    package var receiveBuffer: CInt?

    package init(
        source: SocketEndpoint? = nil,
        interface: String? = nil,
        mark: UInt32? = nil,
        hopLimit: UInt8? = nil,
        maximumSegment: UInt16? = nil,
        priority: CInt? = nil,
        fragmentation: Fragmentation? = nil,
        receiveBuffer: CInt? = nil
    ) {
        self.source = source
        self.interface = interface
        self.mark = mark
        self.hopLimit = hopLimit
        self.maximumSegment = maximumSegment
        self.priority = priority
        self.fragmentation = fragmentation
        self.receiveBuffer = receiveBuffer
    }
}

/// The handling of a packet that is larger than the MTU of a link on its path.
///
/// C counterpart: IP_MTU_DISCOVER of `ip(7)`, IPV6_MTU_DISCOVER.
package enum Fragmentation: CInt, Hashable, Sendable {
    /// The packet may be fragmented (IP_PMTUDISC_DONT).
    case allowed = 0
    /// The packet is not fragmented. A packet larger than the known path MTU is not sent (IP_PMTUDISC_DO).
    case forbidden = 2
    /// The packet is not fragmented, and the known path MTU is ignored (IP_PMTUDISC_PROBE).
    case probing = 3
}
