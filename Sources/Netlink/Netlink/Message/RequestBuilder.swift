import CLinux
import CNetlink
import LinuxSupport

/// The bytes of one or more requests. They are sent to the kernel in one datagram, and answered in the same order.
///
/// C counterpart: `nlmsg_put`, `nla_put`.
struct RequestBuilder: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0

    /// The complete requests.
    var bytes: [UInt8] {
        mutating get {
            end()
            return buffer
        }
    }

    /// Creates an empty builder.
    ///
    /// - Parameter capacity: The number of bytes to reserve.
    init(capacity: Int = 64) {
        buffer.reserveCapacity(capacity)
    }

    /// Begins a request. Structures and attributes that are appended afterwards belong to it.
    mutating func begin(_ kind: MessageKind, flags: Int32 = 0, sequence: UInt32) {
        end()
        start = buffer.count
        append(Self.head(kind, flags: flags, sequence: sequence))
    }

    /// Writes the length of the last request at its beginning.
    private mutating func end() {
        if buffer.isEmpty { return }
        let (length, start) = (UInt32(buffer.count - start), start)
        buffer.withUnsafeMutableBytes { $0.storeBytes(of: length, toByteOffset: start, as: UInt32.self) }
    }

    /// Appends a kernel structure, padded to netlink's alignment.
    mutating func append(_ structure: some BitwiseCopyable) {
        withUnsafeBytes(of: structure) { append(raw: $0) }
    }

    mutating func append(attribute type: Int, _ value: UnsafeRawBufferPointer) {
        append(rtattr(rta_len: UInt16(MemoryLayout<rtattr>.size + value.count), rta_type: UInt16(type)))
        append(raw: value)
    }

    mutating func append(attribute type: Int, _ value: [UInt8]) {
        value.withUnsafeBytes { append(attribute: type, $0) }
    }

    /// Appends an address in network order.
    mutating func append(attribute type: Int, _ address: WireAddress) {
        switch address.family {
        case .ipv4: append(attribute: type, UInt32(truncatingIfNeeded: address.bits).bigEndian)
        case .ipv6: withUnsafeBytes(of: address.bits.bigEndian) { append(attribute: type, $0) }
        }
    }

    mutating func append(attribute type: Int, _ value: UInt32) {
        // In one copy, because this is the most frequent case.
        append((rtattr(rta_len: 8, rta_type: UInt16(type)), value))
    }

    mutating func append(attribute type: Int, text: String) {
        append(attribute: type, Array(text.utf8) + [0])
    }

    /// Appends a complete request for a route lookup. Optimized for very many lookups: few copies.
    mutating func append(_ query: RouteQuery, sequence: UInt32) {
        end()
        let family = query.destination.family
        start = buffer.count
        // IPv6 always reports the real table and rejects RTM_F_LOOKUP_TABLE.
        var flags: Int32 = query.wantsEntry ? RTM_F_FIB_MATCH : 0
        if family == .ipv4 { flags |= RTM_F_LOOKUP_TABLE }
        append(
            (
                Self.head(.getRoute, sequence: sequence),
                rtmsg(
                    rtm_family: family.rawValue,
                    rtm_dst_len: UInt8(family.bitCount),
                    rtm_src_len: query.source == nil ? 0 : UInt8(family.bitCount),
                    rtm_tos: 0,
                    rtm_table: 0,
                    rtm_protocol: 0,
                    rtm_scope: 0,
                    rtm_type: 0,
                    rtm_flags: UInt32(flags)
                )
            )
        )
        append(attribute: Int(RTA_DST.rawValue), query.destination)
        if let source = query.source { append(attribute: Int(RTA_SRC.rawValue), source) }
        if let interface = query.outputInterface { append(attribute: Int(RTA_OIF.rawValue), interface) }
        if query.mark != 0 { append(attribute: Int(RTA_MARK.rawValue), query.mark) }
        if let transport = query.transport {
            withUnsafeBytes(of: transport.rawValue) { append(attribute: Int(RTA_IP_PROTO.rawValue), $0) }
        }
    }

    private static func head(_ kind: MessageKind, flags: Int32 = 0, sequence: UInt32) -> nlmsghdr {
        nlmsghdr(
            nlmsg_len: 0,
            nlmsg_type: kind.rawValue,
            nlmsg_flags: UInt16(NLM_F_REQUEST | flags),
            nlmsg_seq: sequence,
            nlmsg_pid: 0
        )
    }

    private mutating func append(raw value: UnsafeRawBufferPointer) {
        buffer.append(contentsOf: value)
        while buffer.count & 3 != 0 { buffer.append(0) }
    }
}

/// An rtnetlink message that libnl-route has parsed. Used if the parsed object contains all required properties
/// (`docs/libnl.md`).
///
/// C counterpart: `nl_msg_parse`, `nl_object`.
struct RouteObject: ~Copyable {
    private let pointer: OpaquePointer

    /// The number of bytes after the message. libnl reads numbers without checking the length of their attributes, so
    /// the last attribute must not end the buffer.
    private static let padding = 64

    /// Parses a message.
    ///
    /// - Parameter kind: The message type as which the body is parsed.
    /// - Returns: Nil if libnl-route has no object for the type, or rejects the message.
    init?(_ kind: MessageKind, body: UnsafeRawBufferPointer) {
        guard let message = nlmsg_alloc_size(MessageHeader.size + body.count + Self.padding) else { return nil }
        defer { nlmsg_free(message) }
        guard nlmsg_put(message, 0, 0, CInt(kind.rawValue), 0, 0) != nil,
            nlmsg_append(message, UnsafeMutableRawPointer(mutating: body.baseAddress), body.count, 0) == 0
        else { return nil }
        nlmsg_set_proto(message, NETLINK_ROUTE)
        var parsed: OpaquePointer?
        _ = nl_msg_parse(
            message,
            { object, context in
                // libnl releases its reference when this function returns.
                nl_object_get(object)
                context?.assumingMemoryBound(to: OpaquePointer?.self).pointee = object
            },
            &parsed
        )
        guard let parsed else { return nil }
        pointer = parsed
    }

    deinit { nl_object_put(pointer) }

    /// Calls `body` with the object for the accessors of libnl-route (`rtnl_addr *`, `rtnl_neigh *`). Pointers returned
    /// by the accessors must not leave `body`.
    func read<Value>(_ body: (OpaquePointer) -> Value) -> Value { body(pointer) }
}

extension UnsafeRawBufferPointer {
    /// Creates a pointer to the bytes of a libnl address. It is valid while the address exists. Empty if the address is
    /// nil.
    init(_ address: OpaquePointer?) {
        guard let address else {
            self.init(start: nil, count: 0)
            return
        }
        self.init(start: nl_addr_get_binary_addr(address), count: Int(nl_addr_get_len(address)))
    }
}
