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

    mutating func append(_ structure: some BitwiseCopyable) {
        withUnsafeBytes(of: structure) { bytes.append(contentsOf: $0) }
        close()
    }

    mutating func append(attribute type: Int, _ value: some Collection<UInt8>) {
        append(rtattr(rta_len: UInt16(MemoryLayout<rtattr>.size + value.count), rta_type: UInt16(type)))
        bytes.append(contentsOf: value)
        close()
    }

    /// An address in network order.
    mutating func append(attribute type: Int, _ address: WireAddress) {
        switch address.family {
        case .ipv4:
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: address.bits).bigEndian) { append(attribute: type, $0) }
        case .ipv6:
            withUnsafeBytes(of: address.bits.bigEndian) { append(attribute: type, $0) }
        }
    }

    mutating func append(attribute type: Int, _ value: UInt32) {
        withUnsafeBytes(of: value) { append(attribute: type, $0) }
    }

    mutating func append(attribute type: Int, text: String) {
        append(attribute: type, Array(text.utf8) + [0])
    }

    private mutating func close() {
        while bytes.count % 4 != 0 { bytes.append(0) }
        let length = UInt32(bytes.count - start)
        withUnsafeBytes(of: length) { length in
            for index in 0..<4 { bytes[start + index] = length[index] }
        }
    }
}
