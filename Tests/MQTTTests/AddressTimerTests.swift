#if Fleet
import Glibc
import LinuxSupport
import NetworkLab
import TestSupport
import Testing

@testable import MQTT

/// The timeout of each address of a broker.
struct AddressTimerTests {
    /// A loopback port whose queue of pending connections is full, so that `connect(2)` blocks.
    private final class BusyPort: Sendable {
        private let sockets: [CInt]
        private let address: sockaddr_in

        init() throws {
            let listener = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = bind(listener, $0, length)
                    _ = getsockname(listener, $0, &length)
                }
            }
            guard listen(listener, 0) == 0 else { throw LabError("cannot listen") }
            self.address = address
            let first = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            sockets = [listener, first]
            guard Self.connect(first, address) == 0 else { throw LabError("cannot connect") }
        }

        deinit { for socket in sockets { close(socket) } }

        private static func connect(_ socket: CInt, _ address: sockaddr_in) -> CInt {
            var address = address
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 ? 0 : errno
                }
            }
        }

        /// Tries to connect, and blocks until the end.
        func connect() -> CInt {
            let socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { close(socket) }
            // The timeout for a test that fails.
            var limit = timeval(tv_sec: 20, tv_usec: 0)
            setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            return Self.connect(socket, address)
        }
    }

    @Test func `a silent address is abandoned for the next, and the last one has the remaining time`() async throws {
        let port = try BusyPort()
        let ends = try await LabThread.detached {
            AddressTimer.during(.milliseconds(900), count: { 3 }) { (0..<3).map { _ in port.connect() } }
        }
        #expect(ends.prefix(2) == [EINTR, EINTR] && ends.last != EINTR, "\(ends)")
    }

    @Test func `the only address of a name has the whole time`() async throws {
        let port = try BusyPort()
        let end = try await LabThread.detached {
            AddressTimer.during(.milliseconds(300), count: { 1 }) { port.connect() }
        }
        #expect(end != EINTR)
    }
}
#endif
