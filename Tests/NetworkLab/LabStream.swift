internal import CNetworkLab
import Glibc

/// The server's end of a connection. The socket is closed with its last owner. Its functions may block.
package final class LabStream: Sendable {
    private let socket: LabDescriptor

    init(_ number: CInt) {
        socket = LabDescriptor(number)
    }

    /// Returns the bytes that have arrived, as soon as there are any; empty at the end of the stream and after `limit`.
    package func receive(within limit: Duration? = nil) -> [UInt8] {
        guard socket.number >= 0 else { return [] }
        var event = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
        _ = poll(&event, 1, limit.map { Deadline(after: $0).milliseconds } ?? -1)
        return [UInt8](unsafeUninitializedCapacity: 1 << 16) { bytes, count in
            count = max(0, recv(socket.number, bytes.baseAddress, bytes.count, 0))
        }
    }

    /// Sends all bytes. Returns whether the peer still accepts bytes.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket.number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count < 0, errno != EAGAIN { return false }
            rest = rest.dropFirst(max(0, count))
            var event = pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0)
            _ = poll(&event, 1, -1)
        }
        return true
    }

    /// Reads until the peer closes the connection.
    package func waitForEnd() {
        while !receive().isEmpty {}
    }

    /// Waits for a reset without reading.
    package func waitForReset() {
        var event = pollfd(fd: socket.number, events: 0, revents: 0)
        _ = poll(&event, 1, -1)
    }

    /// Closes the sending direction only. Closing both while received bytes are unread sends a reset.
    package func halfClose() {
        shutdown(socket.number, CInt(SHUT_WR))
    }

    /// Closes the connection with a reset (`SO_LINGER` of `socket(7)`).
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket.number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close()
    }

    /// Resets the connection and wakes the thread that waits for it, from any thread. The descriptor stays open.
    func abort() {
        // See tcp(7) and connect(2): AF_UNSPEC dissolves the association, for TCP by a reset.
        var address = sockaddr(sa_family: sa_family_t(AF_UNSPEC), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        connect(socket.number, &address, socklen_t(MemoryLayout<sockaddr>.size))
    }

    package func close() {
        socket.close()
    }

    /// Ends both directions and wakes a thread that waits. The descriptor stays open, so no other thread can get its number.
    func interrupt() {
        shutdown(socket.number, CInt(SHUT_RDWR))
    }
}
