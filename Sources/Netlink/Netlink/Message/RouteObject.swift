import CLinux
import CNetlink
import LinuxSupport

/// A message of rtnetlink, parsed by libnl-route: for those of which its objects carry all that is needed (`docs/libnl.md`).
///
/// C counterpart: `nl_msg_parse`, `nl_object`.
struct RouteObject: ~Copyable {
    private let pointer: OpaquePointer

    /// libnl reads numbers without regard to the length of their attributes, so the last one needs something behind it.
    private static let padding = 64

    /// - Parameter kind: what the message is taken for.
    /// - Returns: Nil for what libnl-route has no object for, and for what it refuses.
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
                // It is let go of when this returns.
                nl_object_get(object)
                context?.assumingMemoryBound(to: OpaquePointer?.self).pointee = object
            },
            &parsed
        )
        guard let parsed else { return nil }
        pointer = parsed
    }

    deinit { nl_object_put(pointer) }

    /// Gives `body` what the accessors of libnl-route take: `rtnl_addr *`, `rtnl_neigh *` ... What these return lives no longer.
    func read<Value>(_ body: (OpaquePointer) -> Value) -> Value { body(pointer) }
}

extension UnsafeRawBufferPointer {
    /// The bytes of an address of libnl, as long as that lives; none where it is nil.
    ///
    /// C counterpart: `nl_addr_get_binary_addr`.
    init(_ address: OpaquePointer?) {
        guard let address else {
            self.init(start: nil, count: 0)
            return
        }
        self.init(start: nl_addr_get_binary_addr(address), count: Int(nl_addr_get_len(address)))
    }
}
