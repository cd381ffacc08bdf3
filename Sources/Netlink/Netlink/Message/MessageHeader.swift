import CLinux

/// The head of every netlink message.
///
/// C counterpart: `nlmsghdr`.
package struct MessageHeader: Sendable {
    package static let size = MemoryLayout<nlmsghdr>.size

    /// Bytes of the message, this head included.
    package let length: Int
    package let kind: MessageKind
    package let flags: UInt16
    package let sequence: UInt32
    package let port: UInt32

    /// Nil when the bytes end before the head does, or before the length it announces.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let header = bytes.load(nlmsghdr.self, at: 0) else { return nil }
        guard header.nlmsg_len >= UInt32(Self.size), Int(header.nlmsg_len) <= bytes.count else { return nil }
        length = Int(header.nlmsg_len)
        kind = MessageKind(rawValue: header.nlmsg_type)
        flags = header.nlmsg_flags
        sequence = header.nlmsg_seq
        port = header.nlmsg_pid
    }

    package var isMultipart: Bool { flags & UInt16(NLM_F_MULTI) != 0 }

    /// Whether what is dumped changed meanwhile, so that the dump may lack or repeat something (NLM_F_DUMP_INTR).
    package var isInterrupted: Bool { flags & UInt16(NLM_F_DUMP_INTR) != 0 }
}
