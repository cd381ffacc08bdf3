internal import CNetworkLab
import Glibc

extension ScriptedConnection {
    /// Connects to a port of 127.0.0.1, sends the pieces, and copies bytes in both directions until one side closes its connection.
    func tunnel(to port: Int, _ pieces: [[UInt8]]) -> Bool {
        let number = lab_connect("127.0.0.1", UInt16(port), 1)
        var event = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        guard number >= 0, poll(&event, 1, -1) >= 0, lab_socket_error(number) == 0 else { return false }
        let (near, far) = (stream, LabStream(number))
        for piece in pieces { near.send(piece) }
        let back = try? LabThread.start { Self.copy(from: far, to: near) }
        Self.copy(from: near, to: far)
        if let back { pthread_join(back, nil) }
        return false
    }

    private static func copy(from source: LabStream, to target: LabStream) {
        while case let bytes = source.receive(), !bytes.isEmpty, target.send(bytes) {}
        source.interrupt()
        target.interrupt()
    }
}
