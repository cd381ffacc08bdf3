import Glibc
import NetworkLab

/// What programs write to the system's log, by `syslog(3)`: a socket of our own takes the place of `/dev/log`.
final class SystemLog: Sendable {
    private let directory: ScratchDirectory
    private let socket: LabDescriptor

    init() throws {
        directory = try ScratchDirectory()
        socket = LabDescriptor(Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = directory.file("log")
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket.number, $0, length) }
        }
        guard code == 0, chmod(path, 0o777) == 0 else { throw LabError.system("bind \(path)") }
    }

    /// A script that runs `program`, with devices of its own among which this log is.
    func script(running program: String) -> String {
        let devices = directory.file("dev")
        return """
            exec unshare --mount sh -ec '
            mkdir \(devices)
            for name in null zero urandom; do
                touch \(devices)/$name
                mount --bind /dev/$name \(devices)/$name
            done
            ln -s \(directory.file("log")) \(devices)/log
            mount --rbind \(devices) /dev
            exec \(program)'
            """
    }

    /// What has been written so far.
    var messages: [String] {
        var messages: [String] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(socket.number, &bytes, bytes.count, 0), count > 0 {
            messages.append(String(decoding: bytes.prefix(count), as: UTF8.self))
        }
        return messages
    }
}
