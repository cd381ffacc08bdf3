/// Hears what passes netlink sockets, byte by byte, before anybody makes sense of it. Called on the thread that uses the
/// socket, which waits meanwhile.
package protocol NetlinkTap: Sendable {
    /// A message the listening socket received; `port` is who sent it, 0 for the kernel. Whole, up to
    /// `EventSocket.tappedLimit` bytes.
    func received(_ message: [UInt8], from port: UInt32)

    /// The listening socket lost messages for want of buffer space (ENOBUFS).
    func lost()

    /// One request and the messages that answered it, heads included; or why there is no answer.
    func asked(_ request: [UInt8], _ answer: Result<[UInt8], NetlinkError>)
}

/// Requests and answers as they pass a transport, handed to a tap.
struct TappedTransport: NetlinkTransport {
    private let transport: any NetlinkTransport
    private let tap: any NetlinkTap

    init(_ transport: any NetlinkTransport, _ tap: any NetlinkTap) {
        self.transport = transport
        self.tap = tap
    }

    func exchange(
        _ requests: [UInt8],
        first: UInt32,
        count: Int,
        _ take: (Int, UnsafeRawBufferPointer) -> Void
    ) throws(NetlinkError) {
        var answers = [[UInt8]](repeating: [], count: count)
        var failure: NetlinkError?
        do throws(NetlinkError) {
            try transport.exchange(requests, first: first, count: count) { index, message in
                answers[index] += message
                while answers[index].count & 3 != 0 { answers[index].append(0) }
                take(index, message)
            }
        } catch {
            failure = error
        }
        for (request, answer) in zip(NetlinkMessages(requests), answers) {
            tap.asked(Array(request), failure.map(Result.failure) ?? .success(answer))
        }
        if let failure { throw failure }
    }
}
