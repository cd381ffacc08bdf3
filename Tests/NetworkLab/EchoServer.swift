import CNetworkLab
import Glibc
import LinuxSupport

/// A server that echoes UDP datagrams and accepts TCP connections in several namespaces, on all current and later
/// addresses.
package final class EchoServer: Sendable {
    /// The port of every echo server.
    package static let port: UInt16 = 4747

    private let stopping: StopSignal

    package init(in namespaces: [LabNamespace]) throws {
        stopping = try StopSignal()
        let requested = stopping.requested
        var services: [(socket: LabDescriptor, once: (CInt) -> CInt)] = []
        for namespace in namespaces {
            let sockets = try namespace.perform {
                let echo = LabDescriptor(try check("echo socket", lab_echo_socket(EchoServer.port)))
                let listener = try check("listening socket", lab_listening_socket(EchoServer.port))
                return (echo, LabDescriptor(listener))
            }
            services.append((sockets.0, lab_echo_once))
            services.append((sockets.1, lab_accept_once))
        }
        let served = services
        pthread_detach(
            try LabThread.start {
                var events = [pollfd(fd: requested.number, events: Int16(POLLIN), revents: 0)]
                events += served.map { pollfd(fd: $0.socket.number, events: Int16(POLLIN), revents: 0) }
                while true {
                    _ = poll(&events, nfds_t(events.count), -1)
                    guard events[0].revents == 0 else { return }
                    for (event, service) in zip(events.dropFirst(), served) where event.revents != 0 {
                        while service.once(service.socket.number) > 0 {}
                    }
                }
            }
        )
    }

    /// Stops the service. Calling it twice has no effect.
    package func stop() {
        stopping.request()
    }

    deinit {
        stop()
    }
}

/// A Unix socket that receives datagrams, like a service manager, the journal or the system log.
package final class DatagramReceiver: Sendable {
    /// The path of the socket, or `@` and its abstract name.
    package let place: String
    private let file: Descriptor

    /// Binds a socket to a path, or to `@` and an abstract name.
    package init(at place: String) throws {
        let number = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw LabError("no socket") }
        file = Descriptor(owning: number)
        self.place = place
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(place.utf8)
        if place.hasPrefix("@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, length) }
        }
        guard result == 0 else { throw LabError("cannot bind to \(place)") }
    }

    /// Returns the next datagram as text; nil if none arrives in time. Blocks the thread.
    package func next(within limit: Duration = .patience) -> String? {
        var poll = pollfd(fd: file.number, events: Int16(POLLIN), revents: 0)
        let milliseconds = CInt(limit.components.seconds * 1000 + limit.components.attoseconds / 1_000_000_000_000_000)
        guard Glibc.poll(&poll, 1, milliseconds) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(file.number, &buffer, buffer.count, 0)
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Returns the datagrams up to and including the first with this prefix. Blocks the thread.
    package func texts(to beginning: String) -> [String] {
        var texts: [String] = []
        while let text = next() {
            texts.append(text)
            if text.hasPrefix(beginning) { break }
        }
        return texts
    }
}

/// A server that answers UDP datagrams in a namespace.
package final class DatagramServer: Sendable {
    package let port: UInt16
    private let stopping: StopSignal

    /// - Parameter answer: Returns the answer to a datagram; nil for none. It is called on the thread of the server.
    package init(
        in namespace: LabNamespace,
        at address: String = "127.0.0.1",
        answer: @escaping @Sendable ([UInt8]) -> [UInt8]?
    ) throws {
        let (socket, port) = try namespace.perform {
            let socket = LabDescriptor(try check("binding a datagram server", lab_socket_at(address, 0, 0)))
            return (socket, try check("getsockname", lab_bound_port(socket.number)))
        }
        stopping = try StopSignal()
        self.port = UInt16(port)
        let requested = stopping.requested
        pthread_detach(
            try LabThread.start {
                var events = [requested, socket].map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
                var (buffer, peer) = ([UInt8](repeating: 0, count: 4096), sockaddr_storage())
                while poll(&events, nfds_t(events.count), -1) < 0 || events[0].revents == 0 {
                    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
                    withUnsafeMutablePointer(to: &peer) { pointer in
                        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { peer in
                            let count = recvfrom(
                                socket.number,
                                &buffer,
                                buffer.count,
                                CInt(MSG_DONTWAIT),
                                peer,
                                &length
                            )
                            guard count >= 0, let reply = answer(Array(buffer.prefix(count))) else { return }
                            sendto(socket.number, reply, reply.count, CInt(MSG_DONTWAIT), peer, length)
                        }
                    }
                }
            }
        )
    }

    package func stop() {
        stopping.request()
    }

    deinit {
        stop()
    }
}
