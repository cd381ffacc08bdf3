import CLinux
import Glibc
import LinuxSupport

/// Carries requests to the kernel, or to whoever plays it, and brings the answers back. For one thread at a time.
package protocol NetlinkTransport: Sendable {
    /// Hands over every message that answers, head included, with the place of its request, until all requests are answered.
    ///
    /// - Parameters:
    ///   - requests: one after the other, numbered from `first` on.
    ///   - count: how many there are.
    func exchange(
        _ requests: [UInt8],
        first: UInt32,
        count: Int,
        _ take: (Int, UnsafeRawBufferPointer) -> Void
    ) throws(NetlinkError)
}

extension MessageHeader {
    /// Whether a request has its last answer with this message.
    var isLast: Bool { kind == .error || kind == .done || !isMultipart }
}

/// The socket that asks. Nothing is multicast to it, so no storm can push an answer out.
///
/// Every exchange blocks for the few microseconds the kernel takes to answer, or as long as it holds its configuration lock
/// (RTNL).
package final class SocketTransport: NetlinkTransport, @unchecked Sendable {
    let socket: NetlinkSocket
    /// A datagram touches as much of its place as it is long. Of a link with very many names or sources the kernel sends some
    /// ten KiB, and a dump comes in datagrams of at most 32.
    private let buffer = DatagramBuffer(count: 16, size: 128 << 10)

    /// - Parameter family: `NETLINK_ROUTE`, or `NETLINK_GENERIC` for what is no part of it.
    init(family: CInt = NETLINK_ROUTE) throws(NetlinkError) {
        socket = try NetlinkSocket(family: family)
        socket.setReceiveBuffer(bytes: 1 << 20)
        socket.setReceiveTimeout(seconds: 5)
    }

    /// Lets the kernel apply what a dump is restricted to, and leave out the rest (Linux 4.20); an older one sends all.
    ///
    /// C counterpart: NETLINK_GET_STRICT_CHK of `netlink(7)`.
    func demandStrictness() {
        var isWanted: CInt = 1
        let length = socklen_t(MemoryLayout<CInt>.size)
        _ = setsockopt(socket.descriptor, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &isWanted, length)
    }

    package func exchange(
        _ requests: [UInt8],
        first: UInt32,
        count: Int,
        _ take: (Int, UnsafeRawBufferPointer) -> Void
    ) throws(NetlinkError) {
        try socket.send(requests)
        var missing = count
        while missing > 0 {
            try receive { header, message in
                // Answers of an earlier exchange that was abandoned have other numbers.
                let index = Int(header.sequence &- first)
                guard header.port == socket.port, index < count else { return true }
                take(index, message)
                if header.isLast { missing -= 1 }
                return true
            }
        }
    }

    /// Sends one request, and hands over its answers for as long as `take` says that it wants more. A dump that is left early
    /// keeps the kernel waiting: this socket can ask for no other.
    func stream(
        _ request: [UInt8],
        sequence: UInt32,
        _ take: (MessageHeader, UnsafeRawBufferPointer) -> Bool
    ) throws(NetlinkError) {
        try socket.send(request)
        var isOver = false
        while !isOver {
            try receive { header, message in
                guard header.port == socket.port, header.sequence == sequence else { return true }
                isOver = !take(header, message) || header.isLast
                return !isOver
            }
        }
    }

    /// Hands over the messages of the datagrams that are there, waiting for the first, for as long as they are wanted.
    private func receive(
        _ take: (MessageHeader, UnsafeRawBufferPointer) -> Bool
    ) throws(NetlinkError) {
        do throws(SystemError) {
            for index in 0..<(try buffer.receive(from: socket.descriptor)) {
                let datagram = buffer[index]
                guard datagram.sender == 0 else { continue }
                if datagram.isCutOff { throw .messageTooLong }
                var rest = datagram.bytes
                while let header = MessageHeader(rest) {
                    guard take(header, rest.bytes(from: 0, length: header.length)) else { return }
                    rest = rest.bytes(from: header.length.alignedToAttribute)
                }
            }
        } catch {
            throw NetlinkError("read the kernel's answer", error)
        }
    }
}
