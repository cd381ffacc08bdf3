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
