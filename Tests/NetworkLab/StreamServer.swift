internal import CNetworkLab
import Glibc

/// Accepts TCP connections in a namespace, on all its addresses, and does with each what a test wants, on a thread of its own.
package final class StreamServer: Sendable {
    package static let port: UInt16 = 4748

    private let stopping: StopSignal

    /// - Parameter serve: may wait; afterwards the connection is closed.
    package init(in namespace: LabNamespace, _ serve: @escaping @Sendable (LabStream) -> Void) throws {
        stopping = try StopSignal()
        let requested = stopping.requested
        let listener = try namespace.perform {
            LabDescriptor(try check("listening socket", lab_listening_socket(StreamServer.port)))
        }
        pthread_detach(
            try LabThread.start {
                var events = [requested, listener].map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
                while true {
                    _ = poll(&events, nfds_t(events.count), -1)
                    guard events[0].revents == 0 else { return }
                    while case let number = lab_accept(listener.number), number >= 0 {
                        let stream = LabStream(number)
                        if let thread = try? LabThread.start({ serve(stream) }) { pthread_detach(thread) }
                    }
                }
            }
        )
    }

    /// Ends the service; connections that are open go on. Doing it twice does nothing.
    package func stop() {
        stopping.request()
    }

    deinit {
        stop()
    }
}

/// The server's end of a connection; closed with its last owner. Its functions wait.
package final class LabStream: Sendable {
    private let socket: LabDescriptor

    init(_ number: CInt) {
        socket = LabDescriptor(number)
    }

    /// What has arrived, once something has; empty at the end of the stream.
    package func receive() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var event = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
        _ = poll(&event, 1, -1)
        let count = recv(socket.number, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    /// Whether the other side still takes it.
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

    /// Reads until the other side is gone.
    package func waitForEnd() {
        while !receive().isEmpty {}
    }

    /// Waits for a reset, and reads nothing.
    package func waitForReset() {
        var event = pollfd(fd: socket.number, events: 0, revents: 0)
        _ = poll(&event, 1, -1)
    }

    /// Closes it with a reset.
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket.number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        socket.close()
    }
}
