internal import CNetworkLab
import Glibc

/// Sends UDP datagrams back and accepts TCP connections in several namespaces, on all their addresses, whenever these
/// come.
package final class EchoServer: Sendable {
    /// Where every echo server listens.
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

    /// Ends the service. Doing it twice does nothing.
    package func stop() {
        stopping.request()
    }

    deinit {
        stop()
    }
}
