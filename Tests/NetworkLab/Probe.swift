internal import CNetworkLab
import Glibc

/// One question to one address: a datagram, repeated, and a connection. For one thread.
struct Probe {
    let address: String
    var answer = PacketOracle.Answer()
    private var datagram: LabDescriptor?
    private var connection: LabDescriptor?

    init(address: String) {
        self.address = address
    }

    var isPending: Bool { datagram != nil || connection != nil }

    var events: [pollfd] {
        [(datagram, POLLIN), (connection, POLLOUT)].compactMap { descriptor, event in
            descriptor.map { pollfd(fd: $0.number, events: Int16(event), revents: 0) }
        }
    }

    mutating func begin() {
        datagram = Probe.connect(address, stream: 0)
        connection = Probe.connect(address, stream: 1)
    }

    mutating func sendAgain() {
        guard let datagram else { return }
        if send(datagram.number, "echo", 4, 0) < 0 {
            self.datagram = nil
        }
    }

    mutating func collect() {
        if let datagram {
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = recv(datagram.number, &bytes, bytes.count, 0)
            answer.datagram = count == 4
            if count >= 0 || errno != EAGAIN {
                self.datagram = nil
            }
        }
        if let connection {
            var event = pollfd(fd: connection.number, events: Int16(POLLOUT), revents: 0)
            guard poll(&event, 1, 0) > 0 else { return }
            answer.connection = lab_socket_error(connection.number) == 0
            self.connection = nil
        }
    }

    private static func connect(_ address: String, stream: CInt) -> LabDescriptor? {
        let descriptor = lab_connect(address, EchoServer.port, stream)
        return descriptor < 0 ? nil : LabDescriptor(descriptor)
    }
}
