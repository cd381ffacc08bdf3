import Glibc
import NetworkLab

/// A socket on loopback that connections reach, and that answers nothing by itself.
final class SilentServer: Sendable {
    let port: Int
    private let descriptor: LabDescriptor

    init() throws {
        descriptor = LabDescriptor(try check("socket", socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = descriptor.number
        let code = withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            guard bind(number, pointer, length) == 0, listen(number, 8) == 0 else { return CInt(-1) }
            return pointer.map { getsockname(number, $0, &length) } ?? -1
        }
        guard code == 0 else { throw LabError.system("listening on 127.0.0.1") }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Waits for one connection, which stays open.
    func accept() {
        _ = Glibc.accept(descriptor.number, nil, nil)
    }

    /// Waits for one connection and the first bytes on it, says something and closes it.
    func answerOne(_ bytes: [UInt8]) {
        let connection = LabDescriptor(Glibc.accept(descriptor.number, nil, nil))
        var chunk = [UInt8](repeating: 0, count: 4096)
        _ = read(connection.number, &chunk, chunk.count)
        _ = write(connection.number, bytes, bytes.count)
        _ = shutdown(connection.number, CInt(SHUT_WR))
        // Closing with bytes unread would be a reset.
        while read(connection.number, &chunk, chunk.count) > 0 {}
    }
}
