package import Netlink

/// Answers requests in the kernel's stead, from any thread.
package protocol NetlinkAnswers: Sendable {
    /// The messages that answer `request`, heads included.
    ///
    /// - Parameter request: One request, its sequence number zero, so that equal questions are equal bytes.
    func answer(to request: [UInt8]) throws(NetlinkError) -> [UInt8]
}

/// Brings answers from elsewhere: requests are written and answers decoded as ever.
package struct PlayedTransport: NetlinkTransport {
    private let answers: any NetlinkAnswers

    package init(_ answers: any NetlinkAnswers) {
        self.answers = answers
    }

    package func exchange(
        _ requests: [UInt8],
        first: UInt32,
        count: Int,
        _ take: (Int, UnsafeRawBufferPointer) -> Void
    ) throws(NetlinkError) {
        for (index, request) in NetlinkMessages(requests).enumerated() {
            let answer = try answers.answer(to: NetlinkMessages.withoutSequence(request))
            answer.withUnsafeBytes { bytes in
                var rest = bytes
                while let header = MessageHeader(rest) {
                    take(index, rest.bytes(from: 0, length: header.length))
                    rest = rest.bytes(from: header.length.alignedToAttribute)
                }
            }
        }
    }
}
