import Glibc

/// Numbered datagrams to the echo server of an address, from a plain socket: when packets flow, and whose came through.
package final class EchoFlow: Sendable {
    private let socket: LabDescriptor
    private let address: sockaddr_in

    /// - Parameter address: An IPv4 address.
    package init(in namespace: LabNamespace, to address: String) throws {
        socket = try namespace.perform {
            let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
            return LabDescriptor(try check("socket", Glibc.socket(AF_INET, kind, 0)))
        }
        var destination = sockaddr_in()
        destination.sin_family = sa_family_t(AF_INET)
        destination.sin_port = EchoServer.port.bigEndian
        guard inet_pton(AF_INET, address, &destination.sin_addr) == 1 else {
            throw LabError("\(address) is no address")
        }
        self.address = destination
    }

    /// Sends a number; never waits. Returns an error number, or 0. From any thread.
    package func send(_ number: UInt32) -> CInt {
        var number = number
        var address = address
        let count = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(
                    socket.number,
                    &number,
                    MemoryLayout<UInt32>.size,
                    Int32(MSG_DONTWAIT),
                    $0,
                    socklen_t(MemoryLayout<sockaddr_in>.size)
                )
            }
        }
        return count < 0 ? errno : 0
    }

    /// The next number that comes back; nil when none does in that time. Blocks.
    package func receive(within limit: Duration) -> UInt32? {
        let deadline = Deadline(after: limit)
        while true {
            var number: UInt32 = 0
            let count = recv(socket.number, &number, MemoryLayout<UInt32>.size, Int32(MSG_DONTWAIT))
            if count == MemoryLayout<UInt32>.size { return number }
            if deadline.hasPassed { return nil }
            var event = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
            _ = poll(&event, 1, deadline.milliseconds)
        }
    }

    /// Sends a number again and again, each millisecond, until it comes back; when that was. Blocks.
    package func untilEchoed(
        _ number: UInt32,
        within limit: Duration = .patience
    ) throws
        -> ContinuousClock.Instant
    {
        let deadline = Deadline(after: limit)
        while !deadline.hasPassed {
            _ = send(number)
            if receive(within: .milliseconds(1)) == number { return .now }
        }
        throw LabError("no packet came back in \(limit)")
    }
}
