import CLinux
import Glibc

/// Functions for Unix domain sockets with a path.
///
/// C counterpart: `unix(7)`.
package enum LocalSocket {
    /// The state of a path for a new socket.
    package enum State: Hashable, Sendable {
        case nothing
        /// A socket of a process that has ended.
        case stale
        /// A socket on which a process listens.
        case served
        /// A file of another kind.
        case otherFile
    }

    /// The maximum length of a path in bytes: `sun_path` without the final zero byte.
    package static let longestPath = 107

    /// Returns the state of a path. It connects to an existing socket to find out whether a process listens.
    package static func state(of path: String) throws(SystemError) -> State {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if SystemError.current == .noEntry { return .nothing }
            throw .current
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { return .otherFile }
        do {
            _ = try connect(to: path)
            return .served
        } catch {
            switch error {
            case .connectionRefused: return .stale
            case .noEntry: return .nothing
            // A process listens, but its queue is full.
            case .tryAgain: return .served
            default: throw error
            }
        }
    }

    /// Connects to the process that listens on a path.
    package static func connect(to path: String) throws(SystemError) -> Descriptor {
        try connect(to: path, CInt(SOCK_STREAM.rawValue))
    }

    private static func connect(to path: String, _ type: CInt) throws(SystemError) -> Descriptor {
        let bytes = Array(path.utf8)
        guard bytes.count <= longestPath, !bytes.contains(0) else { throw SystemError(rawValue: ENAMETOOLONG) }
        let number = socket(AF_UNIX, type | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .current }
        let file = Descriptor(owning: number)
        guard withSocketAddress(bytes, { Glibc.connect(number, $0, $1) }) == 0 else { throw .current }
        return file
    }

    /// Calls `body` with the arguments of `connect(2)`.
    ///
    /// - Parameter name: A path, or a zero byte and a name in the abstract namespace, of at most `longestPath` bytes.
    static func withSocketAddress<Value>(
        _ name: [UInt8],
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
    ) -> Value {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // Trailing bytes would belong to an abstract name, so the address must end with the name.
        let length = MemoryLayout<sa_family_t>.size + name.count + (name.first == 0 ? 0 : 1)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
        }
    }

    /// Sends one datagram to the socket at a path without waiting. A full queue is an error (EAGAIN).
    package static func send(datagram bytes: [UInt8], to path: String) throws(SystemError) {
        let file = try connect(to: path, CInt(SOCK_DGRAM.rawValue))
        let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
        let count = bytes.withUnsafeBytes { Glibc.send(file.number, $0.baseAddress, $0.count, flags) }
        guard count == bytes.count else { throw .current }
    }

    /// Sends bytes to the process that listens on a path. Returns all bytes that it sends until it closes the
    /// connection.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes of the answer (EFBIG).
    ///   - patience: The maximum time without progress (EAGAIN).
    package static func exchange(
        _ bytes: [UInt8],
        with path: String,
        limit: Int,
        patience: Duration
    ) throws(SystemError) -> [UInt8] {
        let file = try connect(to: path)
        StreamExchange.limit(file, to: patience)
        return try StreamExchange.exchange(bytes, over: file, limit: limit)
    }
}

/// One request and its answer over a connection that the peer closes.
package enum StreamExchange {
    /// Sends bytes to a host over TCP. Returns all bytes that the peer sends until it closes the connection. The
    /// addresses are tried in sequence until one accepts the connection.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes of the answer (EFBIG).
    ///   - patience: The maximum time without progress (EAGAIN), and the timeout of a connection attempt (EINPROGRESS).
    package static func exchange(
        _ bytes: [UInt8],
        with addresses: [NameLookup.Address],
        port: UInt16,
        limit: Int,
        patience: Duration
    ) throws(SystemError) -> [UInt8] {
        var failure = SystemError(rawValue: EADDRNOTAVAIL)
        for address in addresses {
            let file: Descriptor
            do throws(SystemError) { file = try connect(to: address, port: port, patience: patience) } catch {
                failure = error
                continue
            }
            return try exchange(bytes, over: file, limit: limit)
        }
        throw failure
    }

    private static func connect(
        to address: NameLookup.Address,
        port: UInt16,
        patience: Duration
    ) throws(SystemError) -> Descriptor {
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = socket(CInt(address.address.family.rawValue), type, 0)
        guard number >= 0 else { throw .current }
        let file = Descriptor(owning: number)
        limit(file, to: patience)
        let endpoint = SocketEndpoint(address.address, port: port, interfaceIndex: address.zone ?? 0)
        guard endpoint.withSocketAddress({ Glibc.connect(number, $0, $1) }) == 0 else { throw .current }
        return file
    }

    /// Sets the maximum time without progress.
    static func limit(_ file: borrowing Descriptor, to patience: Duration) {
        var time = timeval(
            tv_sec: Int(patience.components.seconds),
            tv_usec: Int(patience.components.attoseconds / 1_000_000_000_000)
        )
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(file.number, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    fileprivate static func exchange(
        _ bytes: [UInt8],
        over file: borrowing Descriptor,
        limit: Int
    ) throws(SystemError) -> [UInt8] {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(file.number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            if count < 0, SystemError.current == .interrupted { continue }
            // The server may have answered before it has read the whole request.
            if count < 0, [.brokenPipe, .connectionReset].contains(SystemError.current) { break }
            guard count > 0 else { throw .current }
            rest = rest.dropFirst(count)
        }
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(file.number, &chunk, chunk.count)
            if count < 0, SystemError.current == .interrupted { continue }
            if count < 0, SystemError.current == .connectionReset, !answer.isEmpty { return answer }
            guard count >= 0 else { throw .current }
            if count == 0 { return answer }
            answer.append(contentsOf: chunk[..<count])
            if answer.count > limit { throw .fileTooLarge }
        }
    }
}
