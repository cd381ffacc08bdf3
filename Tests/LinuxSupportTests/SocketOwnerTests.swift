import Glibc
import LinuxSupport
import Testing

/// Whose a TCP connection from this machine is.
@Suite struct SocketOwnerTests {
    /// A socket of TCP at an address of the loopback; the caller closes it.
    private func socket(_ family: CInt) throws -> CInt {
        let number = Glibc.socket(family, CInt(SOCK_STREAM.rawValue), 0)
        try #require(number >= 0)
        return number
    }

    private func withAddress<Value>(
        _ family: CInt,
        port: UInt16 = 0,
        _ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Value
    ) -> (Value, UInt16) {
        var storage = sockaddr_storage()
        return withUnsafeMutablePointer(to: &storage) { pointer in
            var length: socklen_t
            if family == AF_INET {
                length = socklen_t(MemoryLayout<sockaddr_in>.size)
                pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    $0.pointee.sin_family = sa_family_t(AF_INET)
                    $0.pointee.sin_port = port.bigEndian
                    $0.pointee.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                }
            } else {
                length = socklen_t(MemoryLayout<sockaddr_in6>.size)
                pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    $0.pointee.sin6_family = sa_family_t(AF_INET6)
                    $0.pointee.sin6_port = port.bigEndian
                    $0.pointee.sin6_addr = in6addr_loopback
                }
            }
            let value = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
            // The port is at the same place in both.
            let found = pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt16(bigEndian: $0.pointee.sin_port)
            }
            return (value, found)
        }
    }

    @Test(arguments: [AF_INET, AF_INET6])
    func `a connection is of the user whose process has it, and of nobody when that closed it`(family: CInt) throws {
        let (listener, client) = (try socket(family), try socket(family))
        defer { close(listener) }
        _ = withAddress(family) { bind(listener, $0, $1) }
        _ = listen(listener, 1)
        let server = withAddress(family) { getsockname(listener, $0, &$1) }.1
        try #require(withAddress(family, port: server) { connect(client, $0, $1) }.0 == 0)
        let port = withAddress(family) { getsockname(client, $0, &$1) }.1
        let address = try #require(WireAddress(family == AF_INET ? "127.0.0.1" : "::1"))
        #expect(SocketOwner.user(local: (address, port), remote: (address, server)) == geteuid())
        #expect(SocketOwner.user(local: (address, port), remote: (address, 1)) == nil)
        close(client)
        #expect(SocketOwner.user(local: (address, port), remote: (address, server)) == nil)
    }
}
