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
