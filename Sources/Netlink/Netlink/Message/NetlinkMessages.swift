import CLinux
package import LinuxSupport

/// The header of a netlink message.
///
/// C counterpart: `nlmsghdr`.
package struct MessageHeader: Sendable {
    package static let size = MemoryLayout<nlmsghdr>.size

    /// The length of the message in bytes, including the header.
    package let length: Int
    package let kind: MessageKind
    package let flags: UInt16
    package let sequence: UInt32
    package let port: UInt32

    /// Decodes a header; nil if the bytes end before the header or before the length that it contains.
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

    /// A Boolean value that indicates whether the dumped objects changed during the dump, so that it may lack or repeat
    /// some (NLM_F_DUMP_INTR).
    package var isInterrupted: Bool { flags & UInt16(NLM_F_DUMP_INTR) != 0 }
}

/// The type of a netlink message.
///
/// C counterpart: `NLMSG_*` in `<linux/netlink.h>`, `RTM_*` in `<linux/rtnetlink.h>`, family ids of generic netlink.
package struct MessageKind: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let error = MessageKind(rawValue: UInt16(NLMSG_ERROR))
    package static let done = MessageKind(rawValue: UInt16(NLMSG_DONE))
    package static let newLink = MessageKind(rawValue: UInt16(RTM_NEWLINK))
    package static let deleteLink = MessageKind(rawValue: UInt16(RTM_DELLINK))
    package static let getLink = MessageKind(rawValue: UInt16(RTM_GETLINK))
    package static let newAddress = MessageKind(rawValue: UInt16(RTM_NEWADDR))
    package static let getAddress = MessageKind(rawValue: UInt16(RTM_GETADDR))
    package static let deleteAddress = MessageKind(rawValue: UInt16(RTM_DELADDR))
    package static let newRoute = MessageKind(rawValue: UInt16(RTM_NEWROUTE))
    package static let deleteRoute = MessageKind(rawValue: UInt16(RTM_DELROUTE))
    package static let getRoute = MessageKind(rawValue: UInt16(RTM_GETROUTE))
    package static let newRule = MessageKind(rawValue: UInt16(RTM_NEWRULE))
    package static let deleteRule = MessageKind(rawValue: UInt16(RTM_DELRULE))
    package static let getRule = MessageKind(rawValue: UInt16(RTM_GETRULE))
    package static let getNeighbour = MessageKind(rawValue: UInt16(RTM_GETNEIGH))
    package static let newNeighbour = MessageKind(rawValue: UInt16(RTM_NEWNEIGH))
    package static let deleteNeighbour = MessageKind(rawValue: UInt16(RTM_DELNEIGH))
    package static let newNextHop = MessageKind(rawValue: UInt16(RTM_NEWNEXTHOP))
    package static let deleteNextHop = MessageKind(rawValue: UInt16(RTM_DELNEXTHOP))
    package static let getNextHop = MessageKind(rawValue: UInt16(RTM_GETNEXTHOP))
    package static let newNetworkConfiguration = MessageKind(rawValue: UInt16(RTM_NEWNETCONF))
    package static let deleteNetworkConfiguration = MessageKind(rawValue: UInt16(RTM_DELNETCONF))
    /// Options of router advertisements that the kernel does not process.
    package static let newRouterOption = MessageKind(rawValue: UInt16(RTM_NEWNDUSEROPT))
    /// Sockets of one address family (SOCK_DIAG_BY_FAMILY), a message of `NETLINK_SOCK_DIAG`.
    package static let socketsByFamily = MessageKind(rawValue: UInt16(SOCK_DIAG_BY_FAMILY))
    /// The controller family of generic netlink, the only family with a fixed ID.
    package static let genericController = MessageKind(rawValue: UInt16(GENL_ID_CTRL))
}

/// The attributes of a message or of a nested attribute, in their sequence. A truncated or malformed attribute ends the
/// sequence.
///
/// C counterpart: `rtattr`, `RTA_NEXT`, `RTA_OK`.
package struct Attributes: Sequence, IteratorProtocol {
    private var rest: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
    }

    package mutating func next() -> (type: Int, value: UnsafeRawBufferPointer)? {
        let head = MemoryLayout<rtattr>.size
        guard let attribute = rest.load(rtattr.self, at: 0), Int(attribute.rta_len) >= head,
            Int(attribute.rta_len) <= rest.count
        else { return nil }
        let length = Int(attribute.rta_len)
        let value = rest.bytes(from: head, length: length - head)
        rest = rest.bytes(from: length.alignedToAttribute)
        return (Int(attribute.rta_type & UInt16(attributeTypeMask)), value)
    }

    /// Returns the value of the first attribute of a type; nil if there is none.
    func value(of type: Int) -> UnsafeRawBufferPointer? {
        for attribute in self where attribute.type == type { return attribute.value }
        return nil
    }
}

/// The mask of the attribute type. The two bits above are `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`. The C macro is not
/// imported.
private let attributeTypeMask = 0x3fff

extension Int {
    /// The number rounded up to netlink's alignment of four bytes (`NLMSG_ALIGN`, `RTA_ALIGN`).
    package var alignedToAttribute: Int { (self + 3) & ~3 }
}

/// The netlink messages of a datagram, in their sequence. A truncated message ends the sequence.
struct NetlinkMessages: Sequence, IteratorProtocol {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
    }

    /// Returns the next message with its header, without padding.
    mutating func next() -> (header: MessageHeader, bytes: UnsafeRawBufferPointer)? {
        guard let header = MessageHeader(rest) else { return nil }
        defer { rest = rest.bytes(from: header.length.alignedToAttribute) }
        return (header, rest.bytes(from: 0, length: header.length))
    }
}

/// Messages that are stored.
package enum StoredMessages {
    /// Returns the messages of a datagram with their headers, without padding.
    package static func split(_ bytes: [UInt8]) -> [[UInt8]] {
        bytes.withUnsafeBytes { NetlinkMessages($0).map { Array($0.bytes) } }
    }

    /// Returns a request with the sequence number zero, so that equal requests have equal bytes.
    package static func withoutSequence(_ request: [UInt8]) -> [UInt8] {
        var request = request
        guard request.count >= MessageHeader.size else { return request }
        for offset in 8..<12 { request[offset] = 0 }
        return request
    }

    /// Returns an answer that contains only `error`.
    package static func refusal(_ error: SystemError) -> [UInt8] {
        var message = RequestBuilder()
        message.begin(.error, sequence: 0)
        message.append(nlmsgerr(error: -error.rawValue, msg: nlmsghdr()))
        return message.bytes
    }

    /// Returns the message about the link with this index from a list of all links.
    package static func link(_ index: UInt32, in list: [UInt8]) -> [UInt8]? {
        list.withUnsafeBytes { bytes in
            for (header, message) in NetlinkMessages(bytes)
            where header.kind == .newLink && message.load(UInt32.self, at: MessageHeader.size + 4) == index {
                return Array(message)
            }
            return nil
        }
    }
}
