import CLinux
import LinuxSupport

/// Room for several datagrams that are received in one go.
struct DatagramBuffer: ~Copyable {
    /// All of it, for a single long datagram.
    let bytes: UnsafeMutableRawBufferPointer
    private let heads: UnsafeMutableBufferPointer<clinux_datagram>
    /// How long each may be; what is longer is cut off.
    private let size: Int

    /// - Parameter count: at most 16.
    init(count: Int, size: Int) {
        bytes = .allocate(byteCount: count * size, alignment: 16)
        heads = .allocate(capacity: count)
        heads.initialize(repeating: clinux_datagram())
        self.size = size
    }

    deinit {
        bytes.deallocate()
        heads.deallocate()
    }

    var count: Int { heads.count }

    /// One of those that were received last: its bytes, the netlink port it came from (0 is the kernel), and whether it was
    /// cut off.
    subscript(index: Int) -> (bytes: UnsafeRawBufferPointer, sender: UInt32, isCutOff: Bool) {
        let head = heads[index]
        let all = UnsafeRawBufferPointer(bytes)
        return (all.bytes(from: index * size, length: Int(head.length)), head.sender, head.is_truncated != 0)
    }

    /// Receives as many datagrams as are there and fit in, or waits for one where the socket does; says how many.
    ///
    /// C counterpart: `recvmmsg(2)`.
    func receive(from descriptor: CInt) throws(SystemError) -> Int {
        while true {
            let count = clinux_recvmmsg(
                descriptor,
                bytes.baseAddress,
                UInt32(size),
                UInt32(heads.count),
                heads.baseAddress
            )
            if count >= 0 { return Int(count) }
            let error = SystemError.current
            if error != .interrupted { throw error }
        }
    }
}
