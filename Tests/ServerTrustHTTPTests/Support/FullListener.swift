import Glibc
import NetworkLab

/// A port of this machine that answers nobody: its queue is full, so the kernel drops what knocks (listen(2)).
final class FullListener {
    let port: Int
    private let listener: CInt
    private var knocking: [CInt] = []

    /// - Parameter listens: Otherwise the port is taken, and refuses everybody.
    init(listens: Bool = true) throws {
        listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        func withAddress<Value>(_ body: (UnsafeMutablePointer<sockaddr>) -> Value) -> Value {
            withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
            }
        }
        let (file, size) = (listener, length)
        guard withAddress({ bind(file, $0, size) }) == 0, !listens || listen(listener, 0) == 0,
            withAddress({ getsockname(file, $0, &length) }) == 0
        else { throw LabError("no listener: \(errno)") }
        port = Int(UInt16(bigEndian: address.sin_port))
        for _ in 0..<(listens ? 8 : 0) {
            let knock = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
            _ = withAddress { connect(knock, $0, size) }
            knocking.append(knock)
        }
    }

    deinit {
        for file in knocking + [listener] { close(file) }
    }
}
