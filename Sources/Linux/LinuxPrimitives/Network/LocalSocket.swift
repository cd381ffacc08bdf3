import CLinux
import Glibc

/// Stream sockets whose address is a file.
///
/// C counterpart: `unix(7)`.
package enum LocalSocket {
    /// What lies at a path where a socket is wanted.
    package enum Occupant: Hashable, Sendable {
        case nothing
        /// The socket of a process that is gone.
        case stale
        /// Somebody listens there.
        case served
        /// A file of another kind.
        case foreign
    }

    /// A path may have so many bytes, `sun_path` without its zero.
    package static let longestPath = 107

    /// Looks who is there.
    package static func occupant(of path: String) throws(SystemError) -> Occupant {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if SystemError.current == .noEntry { return .nothing }
            throw .current
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { return .foreign }
        do {
            _ = try connect(to: path)
            return .served
        } catch {
            switch error {
            case .connectionRefused: return .stale
            case .noEntry: return .nothing
            // It listens, and has no room.
            case .tryAgain: return .served
            default: throw error
            }
        }
    }

    /// Connects to whoever listens at a path.
    package static func connect(to path: String) throws(SystemError) -> Descriptor {
        try connect(to: path, CInt(SOCK_STREAM.rawValue))
    }

    private static func connect(to path: String, _ type: CInt) throws(SystemError) -> Descriptor {
        let bytes = Array(path.utf8)
        guard bytes.count <= longestPath, !bytes.contains(0) else { throw SystemError(rawValue: ENAMETOOLONG) }
        let number = socket(AF_UNIX, type | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .current }
        let file = Descriptor(owning: number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw .current }
        return file
    }

    /// Sends one datagram to whoever receives at a path. Nobody is waited for: where there is no room, that is an error (EAGAIN).
    package static func send(datagram bytes: [UInt8], to path: String) throws(SystemError) {
        let file = try connect(to: path, CInt(SOCK_DGRAM.rawValue))
        let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
        let count = bytes.withUnsafeBytes { Glibc.send(file.number, $0.baseAddress, $0.count, flags) }
        guard count == bytes.count else { throw .current }
    }

    /// Sends bytes to whoever listens at a path, and returns all that comes until the other side closes.
    ///
    /// - Parameters:
    ///   - limit: More bytes than these are an error (EFBIG).
    ///   - patience: So long nothing may come or be taken (EAGAIN).
    package static func exchange(
        _ bytes: [UInt8],
        with path: String,
        limit: Int,
        patience: Duration
    ) throws(SystemError) -> [UInt8] {
        let file = try connect(to: path)
        var time = timeval(
            tv_sec: Int(patience.components.seconds),
            tv_usec: Int(patience.components.attoseconds / 1_000_000_000_000)
        )
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(file.number, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(file.number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            if count < 0, SystemError.current == .interrupted { continue }
            // Who has heard enough may have answered already.
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
