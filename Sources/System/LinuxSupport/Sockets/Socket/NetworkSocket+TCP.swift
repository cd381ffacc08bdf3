import CLinux
import Glibc

extension NetworkSocket {
    /// How often a SYN is sent again (TCP_SYNCNT).
    func setSynRetries(_ count: UInt8) throws(SocketError) {
        try set(OptionLevel.tcp, TCP_SYNCNT, CInt(max(1, count)), .setOption("TCP_SYNCNT"))
    }

    /// Lets acknowledgements wait for something that they can travel with (TCP_QUICKACK), until data arrives.
    func delayAcknowledgements() {
        try? set(OptionLevel.tcp, TCP_QUICKACK, 0, .setOption("TCP_QUICKACK"))
    }

    /// Sends what there is room for.
    ///
    /// - Returns: how many bytes that was; 0 where there is none now.
    func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
        let flags = CInt(MSG_DONTWAIT | MSG_NOSIGNAL)
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor.number, $0.baseAddress, $0.count, flags) }
        guard count < 0 else { return count }
        let error = SystemError.current
        guard error == .tryAgain || error == .interrupted else { throw error }
        return 0
    }

    /// Reads what has arrived, at most `limit` bytes, more than 0.
    ///
    /// - Returns: nothing at the end of the stream; nil where nothing has arrived.
    func read(atMost limit: Int) throws(SystemError) -> [UInt8]? {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { memory, length in
            count = recv(descriptor.number, memory.baseAddress, limit, CInt(MSG_DONTWAIT))
            length = max(0, count)
        }
        if count >= 0 { return bytes }
        let error = SystemError.current
        guard error == .tryAgain || error == .interrupted else { throw error }
        return nil
    }

    /// Lets the first data carry the acknowledgement of the SYN-ACK: a packet less where they follow at once (TCP_QUICKACK of 0).
    func delayAcknowledgement() throws(SocketError) {
        try set(OptionLevel.tcp, TCP_QUICKACK, 0, .setOption("TCP_QUICKACK"))
    }

    /// What the kernel measured; nil where the socket is not of TCP.
    var information: TCPInformation? { TCPInformation(ofSocket: descriptor.number) }
}

extension TCPInformation {
    init?(ofSocket number: CInt) {
        var length = socklen_t(256)
        let information = withUnsafeTemporaryAllocation(byteCount: Int(length), alignment: 8) { memory in
            guard getsockopt(number, OptionLevel.tcp, TCP_INFO, memory.baseAddress, &length) == 0 else {
                return TCPInformation?.none
            }
            return TCPInformation(UnsafeRawBufferPointer(memory).bytes(from: 0, length: Int(length)))
        }
        guard let information else { return nil }
        self = information
    }
}

extension Descriptor {
    /// Lets closing send a reset, and leave no state behind (SO_LINGER of 0 seconds).
    func resetWhenClosed() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    /// Lets the socket forget its queue of errors, as whoever reads it from now on knows nothing of that.
    func ignoreErrorQueue() {
        var off: CInt = 0
        let size = socklen_t(MemoryLayout<CInt>.size)
        setsockopt(number, OptionLevel.ipv4, IP_RECVERR, &off, size)
        setsockopt(number, OptionLevel.ipv6, IPV6_RECVERR, &off, size)
    }
}
