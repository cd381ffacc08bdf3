import CLinux
import Glibc

/// The only owner of a socket that never blocks, keeps the ICMP errors it is sent with their senders, and tells hop limits and times.
///
/// C counterpart: `socket(2)`, `ip(7)`, `ipv6(7)`.
struct NetworkSocket: ~Copyable {
    /// As much as an ordinary user may ask for, where the system allows it: with the default, a burst of answers is lost.
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
        if kind != .tcp { try socket.askForTimes() }
        // It is for many at once.
        if kind == .ping { try socket.set(OptionLevel.socket, SO_RCVBUF, bufferSize, "SO_RCVBUF") }
        try socket.apply(settings)
        return socket
    }

    /// Lets the kernel keep ICMP errors, and tell the hop limit of whatever arrives.
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

    /// Lets the kernel note when it sends and receives. Asked for again, the numbers of what is sent begin at 0 again.
    func askForTimes() throws(SocketError) {
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

    /// Sets an option that is a number.
    func set(_ level: CInt, _ option: CInt, _ value: CInt, _ step: SocketError.Step) throws(SocketError) {
        var value = value
        let code = setsockopt(descriptor.number, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
        guard code == 0 else { throw SocketError(step, .current) }
    }

    private func set(_ level: CInt, _ option: CInt, _ value: CInt, _ name: String) throws(SocketError) {
        try set(level, option, value, .setOption(name))
    }

    /// Begins a connection; of UDP, it only chooses the peer.
    func connect(to endpoint: SocketEndpoint) throws(SocketError) {
        let code = endpoint.withSocketAddress { Glibc.connect(descriptor.number, $0, $1) }
        guard code == 0 || errno == EINPROGRESS else { throw SocketError(.connect(endpoint), .current) }
    }

    /// Where it sends from; nil as long as that is open.
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

    /// The error that waits, which reading it takes away, and reading the queue of errors as well: ask before.
    ///
    /// C counterpart: SO_ERROR of `socket(7)`.
    func takeError() -> SystemError? {
        var number: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(descriptor.number, SOL_SOCKET, SO_ERROR, &number, &length) == 0 else { return .current }
        return number == 0 ? nil : SystemError(rawValue: number)
    }

    /// Sends to the peer that was connected to.
    func send(_ bytes: [UInt8]) throws(SystemError) {
        let flags = CInt(MSG_DONTWAIT | MSG_NOSIGNAL)
        guard Glibc.send(descriptor.number, bytes, bytes.count, flags) >= 0 else { throw .current }
    }

    /// Lets go of everything but the socket itself.
    consuming func release() -> Descriptor { descriptor }
}

/// Whose option it is.
///
/// C counterpart: the level of `getsockopt(2)`.
enum OptionLevel {
    static let socket = SOL_SOCKET
    static let ipv4 = CInt(IPPROTO_IP)
    static let ipv6 = CInt(IPPROTO_IPV6)
    static let tcp = CInt(IPPROTO_TCP)
}

/// The kinds of sockets that an ordinary user may open.
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

    /// A new socket that never blocks; negative when there is none.
    func open(_ family: AddressFamily) -> CInt {
        let stream = self == .tcp ? SOCK_STREAM : SOCK_DGRAM
        let kind = stream.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let ping = family == .ipv4 ? IPPROTO_ICMP : IPPROTO_ICMPV6
        return socket(CInt(family.rawValue), CInt(kind), self == .ping ? CInt(ping) : 0)
    }
}

extension NetworkSocket {
    /// How often a SYN is sent again (TCP_SYNCNT).
    func setSynRetries(_ count: UInt8) throws(SocketError) {
        try set(OptionLevel.tcp, TCP_SYNCNT, CInt(max(1, count)), .setOption("TCP_SYNCNT"))
    }

    /// Lets acknowledgements wait for something that they can travel with (TCP_QUICKACK), until data arrives.
    func delayAcknowledgements() {
        try? set(OptionLevel.tcp, TCP_QUICKACK, 0, .setOption("TCP_QUICKACK"))
    }

    /// Sends what there is room for.
    ///
    /// - Returns: how many bytes that was; 0 where there is none now.
    func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
        let flags = CInt(MSG_DONTWAIT | MSG_NOSIGNAL)
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor.number, $0.baseAddress, $0.count, flags) }
        guard count < 0 else { return count }
        let error = SystemError.current
        guard error == .tryAgain || error == .interrupted else { throw error }
        return 0
    }

    /// Reads what has arrived, at most `limit` bytes, more than 0.
    ///
    /// - Returns: nothing at the end of the stream; nil where nothing has arrived.
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

    /// Lets the first data carry the acknowledgement of the SYN-ACK: a packet less where they follow at once (TCP_QUICKACK of 0).
    func delayAcknowledgement() throws(SocketError) {
        try set(OptionLevel.tcp, TCP_QUICKACK, 0, .setOption("TCP_QUICKACK"))
    }

    /// What the kernel measured; nil where the socket is not of TCP.
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
    /// Lets closing send a reset, and leave no state behind (SO_LINGER of 0 seconds).
    func resetWhenClosed() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    /// Lets the socket forget its queue of errors, as whoever reads it from now on knows nothing of that.
    func ignoreErrorQueue() {
        var off: CInt = 0
        let size = socklen_t(MemoryLayout<CInt>.size)
        setsockopt(number, OptionLevel.ipv4, IP_RECVERR, &off, size)
        setsockopt(number, OptionLevel.ipv6, IPV6_RECVERR, &off, size)
    }
}
