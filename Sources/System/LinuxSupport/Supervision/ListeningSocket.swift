import CLinux
import Glibc

/// A socket that listens already, handed over by whoever started this process; whoever listens at it closes it.
///
/// C counterpart: `sd_is_socket(3)`.
package struct ListeningSocket: Hashable, Sendable {
    /// Where it listens.
    package enum Place: Hashable, Sendable {
        /// A path, `@` and a name in the abstract namespace, or empty for neither.
        case local(String)
        case internet(WireAddress, port: UInt16)
    }

    package let number: CInt
    package let place: Place

    /// Looks at a descriptor, which is closed in other programs from now on.
    ///
    /// - Throws: ``SystemError``: it is not open (EBADF), no socket (ENOTSOCK), of another kind than a stream, or it does not listen
    ///   (EINVAL), of another family (EAFNOSUPPORT).
    package init(_ number: CInt) throws(SystemError) {
        guard fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else { throw .current }
        guard try Self.option(SO_TYPE, of: number) == CInt(SOCK_STREAM.rawValue),
            try Self.option(SO_ACCEPTCONN, of: number) != 0
        else { throw .invalidArgument }
        self.number = number
        place = try Self.place(of: number)
    }

    private static func option(_ name: CInt, of number: CInt) throws(SystemError) -> CInt {
        var (value, length): (CInt, socklen_t) = (0, socklen_t(MemoryLayout<CInt>.size))
        guard getsockopt(number, SOL_SOCKET, name, &value, &length) == 0 else { throw .current }
        return value
    }

    private static func place(of number: CInt) throws(SystemError) -> Place {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &length) }
        }
        guard result == 0 else { throw .current }
        let bytes = withUnsafeBytes(of: &storage) { Array($0.prefix(Int(length))) }
        switch CInt(storage.ss_family) {
        case AF_UNIX: return .local(localName(bytes.dropFirst(MemoryLayout<sa_family_t>.size)))
        case AF_INET: if let address = WireAddress(bytes: bytes[4..<8]) { return .internet(address, port: port(bytes)) }
        case AF_INET6:
            if let address = WireAddress(bytes: bytes[8..<24]) { return .internet(address, port: port(bytes)) }
        default: break
        }
        throw SystemError(rawValue: EAFNOSUPPORT)
    }

    private static func port(_ bytes: [UInt8]) -> UInt16 { UInt16(bytes[2]) << 8 | UInt16(bytes[3]) }

    private static func localName(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.first == 0 { return "@" + String(decoding: bytes.dropFirst(), as: UTF8.self) }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
