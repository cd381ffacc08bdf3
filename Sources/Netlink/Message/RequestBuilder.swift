import CNetlink

/// Bytes of one or more requests, sent to the kernel in one datagram and answered in order.
///
/// C counterpart: `nlmsg_put`, `nla_put`.
struct RequestBuilder: Sendable {
    private(set) var bytes: [UInt8] = []
    private var start = 0

    /// - Parameter capacity: Bytes to make room for.
    init(capacity: Int = 64) {
        bytes.reserveCapacity(capacity)
    }

    /// Begins a request; what is appended next belongs to it.
    mutating func begin(_ kind: MessageKind, flags: Int32 = 0, sequence: UInt32) {
        start = bytes.count
        append(
            nlmsghdr(
                nlmsg_len: 0,
                nlmsg_type: kind.rawValue,
                nlmsg_flags: UInt16(NLM_F_REQUEST | flags),
                nlmsg_seq: sequence,
                nlmsg_pid: 0
            )
        )
    }

    /// A structure of the kernel's, padded to the alignment of netlink.
    mutating func append(_ structure: some BitwiseCopyable) {
        withUnsafeBytes(of: structure) { append(raw: $0) }
    }

    mutating func append(attribute type: Int, _ value: UnsafeRawBufferPointer) {
        let head = rtattr(rta_len: UInt16(MemoryLayout<rtattr>.size + value.count), rta_type: UInt16(type))
        withUnsafeBytes(of: head) { bytes.append(contentsOf: $0) }
        append(raw: value)
    }

    mutating func append(attribute type: Int, _ value: [UInt8]) {
        value.withUnsafeBytes { append(attribute: type, $0) }
    }

    /// An address in network order.
    mutating func append(attribute type: Int, _ address: WireAddress) {
        switch address.family {
        case .ipv4: append(attribute: type, UInt32(truncatingIfNeeded: address.bits).bigEndian)
        case .ipv6:
            withUnsafeBytes(of: address.bits.bigEndian) { append(attribute: type, $0) }
        }
    }

    mutating func append(attribute type: Int, _ value: UInt32) {
        // The most common kind, in one piece.
        append((rtattr(rta_len: 8, rta_type: UInt16(type)), value))
    }

    mutating func append(attribute type: Int, text: String) {
        append(attribute: type, Array(text.utf8) + [0])
    }

    private mutating func append(raw value: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: value)
        while bytes.count & 3 != 0 { bytes.append(0) }
        // The length comes first; it counts what has been appended so far.
        let length = UInt32(bytes.count - start)
        let start = start
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: length, toByteOffset: start, as: UInt32.self) }
    }
}
