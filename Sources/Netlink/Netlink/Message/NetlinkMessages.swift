import CLinux
package import LinuxSupport

/// Netlink messages one after the other, as they stand in a datagram.
package struct NetlinkMessages: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    package init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// The next message with its head, without padding; nil when there is none, or it is cut off.
    package mutating func next() -> ArraySlice<UInt8>? {
        let length = rest.withUnsafeBytes { MessageHeader($0)?.length }
        guard let length else { return nil }
        defer { rest = rest.dropFirst(length.alignedToAttribute) }
        return rest.prefix(length)
    }
}

extension NetlinkMessages {
    /// A request with the sequence number zero: equal questions are equal bytes.
    package static func withoutSequence(_ request: some Collection<UInt8>) -> [UInt8] {
        var request = Array(request)
        guard request.count >= MessageHeader.size else { return request }
        for offset in 8..<12 { request[offset] = 0 }
        return request
    }

    /// An answer of the kernel's that says nothing but `error`.
    package static func refusal(_ error: SystemError) -> [UInt8] {
        var message = RequestBuilder()
        message.begin(.error, sequence: 0)
        message.append(nlmsgerr(error: -error.rawValue, msg: nlmsghdr()))
        return message.bytes
    }
}

extension NetlinkMessages {
    /// The message about the link of this index out of the answer that lists all links.
    package static func link(_ index: UInt32, in list: [UInt8]) -> [UInt8]? {
        for message in NetlinkMessages(list) {
            let isAboutIt = message.withUnsafeBytes { bytes in
                MessageHeader(bytes)?.kind == .newLink && bytes.load(UInt32.self, at: MessageHeader.size + 4) == index
            }
            if isAboutIt { return Array(message) }
        }
        return nil
    }
}
