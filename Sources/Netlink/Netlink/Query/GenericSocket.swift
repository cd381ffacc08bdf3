import CLinux
import LinuxSupport

/// A socket for queries to kernel subsystems that are not part of route netlink. It is used for one round of queries,
/// in the network namespace of the thread that opens it.
///
/// C counterpart: `NETLINK_GENERIC`, `<linux/genetlink.h>`.
struct GenericSocket {
    private let transport: SocketTransport

    init() throws(NetlinkError) {
        transport = try SocketTransport(family: NETLINK_GENERIC)
    }

    /// Returns the message type of the family called `name`; nil if the kernel has no such family.
    ///
    /// All families are listed. A query by name would make the kernel load the module of the family, so that a query
    /// about an ethernet device would load the Wi-Fi stack on a server.
    func family(named name: String) throws(NetlinkError) -> MessageKind? {
        var request = RequestBuilder()
        request.begin(.genericController, flags: NLM_F_DUMP, sequence: 1)
        request.append(genlmsghdr(cmd: UInt8(CTRL_CMD_GETFAMILY), version: 1, reserved: 0))
        var found: MessageKind?
        _ = try transport.dump(request.bytes) { body in
            if let family = GenericFamily(body: body), family.name == name { found = family.kind }
            return true
        }
        return found
    }

    /// Returns the role of the Wi-Fi interface with this index (NL80211_CMD_GET_INTERFACE; needs no privilege). Nil if
    /// the interface is not a Wi-Fi interface, or if the kernel has no Wi-Fi support.
    func wirelessRole(ofInterface index: UInt32) throws(NetlinkError) -> WirelessRole? {
        guard let wireless = try family(named: NL80211_GENL_NAME) else { return nil }
        var request = RequestBuilder()
        request.begin(wireless, sequence: 2)
        request.append(genlmsghdr(cmd: UInt8(NL80211_CMD_GET_INTERFACE.rawValue), version: 0, reserved: 0))
        request.append(attribute: Int(NL80211_ATTR_IFINDEX.rawValue), index)
        var role: WirelessRole?
        try transport.exchange(request.bytes, first: 2, count: 1) { _, message in
            guard let header = MessageHeader(message), header.kind != .error else { return }
            role = WirelessRole(body: message.bytes(from: MessageHeader.size), interface: index)
        }
        return role
    }

    /// Returns the peers of the WireGuard interface with this index (WG_CMD_GET_DEVICE; needs CAP_NET_ADMIN). Nil if
    /// its outer packets travel in another network namespace, because an interface keeps its socket in the namespace
    /// where it was created.
    func wireGuardPeers(ofInterface index: UInt32) throws(NetlinkError) -> [TunnelFarEnd]? {
        guard let family = try family(named: WG_GENL_NAME) else { throw NetlinkError("query WireGuard", .noEntry) }
        var request = RequestBuilder()
        request.begin(family, flags: NLM_F_DUMP, sequence: 2)
        request.append(genlmsghdr(cmd: UInt8(WG_CMD_GET_DEVICE.rawValue), version: UInt8(WG_GENL_VERSION), reserved: 0))
        request.append(attribute: Int(WGDEVICE_A_IFINDEX.rawValue), index)
        var peers = WireGuardPeers()
        let failure = try transport.dump(request.bytes, sequence: 2) { body in
            peers.add(body)
            return true
        }
        if let failure { throw NetlinkError("query the peers of a WireGuard interface", failure) }
        return try TCPConnectionDump.hasDatagramSocket(port: peers.port) ? peers.ends : nil
    }
}

/// A kernel subsystem that uses generic netlink.
///
/// C counterpart: CTRL_CMD_NEWFAMILY, `CTRL_ATTR_*` in `<linux/genetlink.h>`.
struct GenericFamily: Hashable, Sendable {
    let name: String
    /// The type of its messages, which the kernel assigns at run time.
    let kind: MessageKind

    /// Decodes a CTRL_CMD_NEWFAMILY body; nil if it is truncated or of another command.
    init?(body: UnsafeRawBufferPointer) {
        guard let head = body.load(genlmsghdr.self, at: 0), head.cmd == UInt8(CTRL_CMD_NEWFAMILY) else { return nil }
        var name: String?
        var id: UInt16?
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<genlmsghdr>.size)) {
            switch type {
            case Int(CTRL_ATTR_FAMILY_NAME): name = value.text
            case Int(CTRL_ATTR_FAMILY_ID): id = value.load(UInt16.self, at: 0)
            default: break
            }
        }
        guard let name, let id else { return nil }
        self.name = name
        kind = MessageKind(rawValue: id)
    }
}

extension TunnelPolicies {
    /// Returns the far ends of an xfrm interface (XFRM_MSG_GETPOLICY; needs CAP_NET_ADMIN); nil if they are not known.
    static func farEnds(ofInterface link: Link) throws(NetlinkError) -> [TunnelFarEnd]? {
        // NETLINK_XFRM and XFRM_MSG_GETPOLICY of <linux/netlink.h> and <linux/xfrm.h>.
        let (family, query): (CInt, UInt16) = (6, 0x15)
        let transport = try SocketTransport(family: family)
        var request = RequestBuilder()
        request.begin(MessageKind(rawValue: query), flags: NLM_F_DUMP, sequence: 1)
        // An empty xfrm_userpolicy_id.
        for _ in 0..<8 { request.append(UInt64(0)) }
        var policies = TunnelPolicies(of: link.policyIdentifier)
        let failure = try transport.dump(request.bytes) { body in
            policies.add(body)
            return true
        }
        if let failure { throw NetlinkError("query the policies of a tunnel", failure) }
        return link.policyIdentifier == 0 ? nil : policies.ends
    }
}
