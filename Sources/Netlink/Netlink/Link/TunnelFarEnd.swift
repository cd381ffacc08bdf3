import CLinux
package import LinuxSupport

/// A far end of a tunnel that may have several: a WireGuard peer, a VXLAN endpoint in the forwarding table, or the far
/// end of an IPsec policy.
package struct TunnelFarEnd: Hashable, Sendable {
    /// The destination of the outer packets; nil for a peer without a configured endpoint.
    package var address: WireAddress?
    /// The inner destinations that the peer accepts or the policy covers; nil for any destination.
    package var accepted: [AddressPrefix]?
    /// The firewall mark of the outer packets; 0 for none.
    package var mark: UInt32

    package init(_ address: WireAddress?, accepting accepted: [AddressPrefix]? = nil, mark: UInt32 = 0) {
        (self.address, self.accepted, self.mark) = (address, accepted, mark)
    }

    /// Returns the far ends that packets to a destination are sent to: those with the longest prefix that covers it,
    /// and those without prefixes.
    package static func chosen(among ends: [TunnelFarEnd], for destination: WireAddress) -> [TunnelFarEnd] {
        func length(_ end: TunnelFarEnd) -> Int? {
            guard let accepted = end.accepted else { return 0 }
            return accepted.filter { $0.contains(destination) }.map(\.length).max()
        }
        let best = ends.compactMap(length).max()
        return best == nil ? [] : ends.filter { length($0) == best }
    }
}

// MARK: - VXLAN

extension TunnelFarEnd {
    /// The link-layer address of the default entry. Frames to unknown stations are sent to its destination.
    private static let anyStation = [UInt8](repeating: 0, count: 6)

    /// Decodes an RTM_NEWNEIGH body of a VXLAN device's forwarding table; nil if it is not a default destination.
    ///
    /// C counterpart: `bridge fdb show dev NAME`, `ndmsg` with NDA_DST.
    init?(forwarding body: UnsafeRawBufferPointer, of link: UInt32) {
        guard let head = body.load(ndmsg.self, at: 0), head.ndm_family == UInt8(AF_BRIDGE),
            UInt32(bitPattern: head.ndm_ifindex) == link
        else { return nil }
        var station: [UInt8] = []
        var address: WireAddress?
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<ndmsg>.size)) {
            switch type {
            case Int(NDA_LLADDR): station = Array(value)
            case Int(NDA_DST): address = WireAddress(bytes: value)
            default: break
            }
        }
        guard station == Self.anyStation, let address else { return nil }
        self.init(address)
    }
}

// MARK: - WireGuard

/// The peers of a WireGuard interface, decoded from the messages of a dump. A large interface has several messages, and
/// one peer may continue in the next message.
///
/// C counterpart: WG_CMD_GET_DEVICE of `<linux/wireguard.h>`.
struct WireGuardPeers {
    private var mark: UInt32 = 0
    /// The UDP port of the outer packets; 0 while the interface is down.
    private(set) var port: UInt16 = 0
    private var peers: [(key: [UInt8], end: TunnelFarEnd)] = []

    /// The peers, each with the mark of the interface.
    var ends: [TunnelFarEnd] {
        peers.map { peer in
            var end = peer.end
            end.mark = mark
            return end
        }
    }

    /// Adds the body of a message. It begins with `genlmsghdr`.
    mutating func add(_ body: UnsafeRawBufferPointer) {
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<genlmsghdr>.size)) {
            switch wgdevice_attribute(UInt32(type)) {
            case WGDEVICE_A_FWMARK: mark = value.word ?? 0
            case WGDEVICE_A_LISTEN_PORT: port = value.load(UInt16.self, at: 0) ?? 0
            case WGDEVICE_A_PEERS: for (_, peer) in Attributes(value) { add(peer: peer) }
            default: break
            }
        }
    }

    private mutating func add(peer: UnsafeRawBufferPointer) {
        var key: [UInt8] = []
        var end = TunnelFarEnd(nil, accepting: [])
        for (type, value) in Attributes(peer) {
            switch wgpeer_attribute(UInt32(type)) {
            case WGPEER_A_PUBLIC_KEY: key = Array(value)
            case WGPEER_A_ENDPOINT: end.address = Self.endpoint(value)
            case WGPEER_A_ALLOWEDIPS: end.accepted = Attributes(value).compactMap { Self.prefix($0.value) }
            default: break
            }
        }
        if let last = peers.indices.last, peers[last].key == key {
            peers[last].end.accepted? += end.accepted ?? []
        } else {
            peers.append((key, end))
        }
    }

    /// Returns the address of a `sockaddr_in` or `sockaddr_in6`.
    private static func endpoint(_ value: UnsafeRawBufferPointer) -> WireAddress? {
        switch value.load(UInt16.self, at: 0).map(CInt.init) {
        case AF_INET: WireAddress(bytes: value.bytes(from: 4, length: 4))
        case AF_INET6: WireAddress(bytes: value.bytes(from: 8, length: 16))
        default: nil
        }
    }

    private static func prefix(_ nest: UnsafeRawBufferPointer) -> AddressPrefix? {
        var address: WireAddress?
        var length: UInt8?
        for (type, value) in Attributes(nest) {
            switch wgallowedip_attribute(UInt32(type)) {
            case WGALLOWEDIP_A_IPADDR: address = WireAddress(bytes: value)
            case WGALLOWEDIP_A_CIDR_MASK: length = value.first
            default: break
            }
        }
        guard let address, let length, Int(length) <= address.family.bitCount else { return nil }
        return AddressPrefix(address, length: Int(length))
    }
}

// MARK: - xfrm

/// The policies of an xfrm interface, decoded from the messages of a dump. The kernel rejects packets that no policy
/// covers (EHOSTUNREACH).
///
/// C counterpart: XFRM_MSG_GETPOLICY of `<linux/xfrm.h>`. Its structures are decoded by the offsets of their members.
struct TunnelPolicies {
    /// The identifier of the interface.
    private let identifier: UInt32
    /// Nil if a policy does more than select a tunnel by the destination.
    private(set) var ends: [TunnelFarEnd]? = []

    /// Offsets and sizes in `xfrm_selector`, `xfrm_userpolicy_info` and `xfrm_user_tmpl`, and attribute numbers.
    private enum Layout {
        static let (family, prefixLength, transport) = (40, 42, 44)
        static let (direction, action, size) = (160, 161, 168)
        static let (templateFamily, mode, templateSize) = (24, 48, 64)
        static let (template, interface) = (5, 31)
        static let (out, allow, tunnel): (UInt8, UInt8, UInt8) = (1, 0, 1)
    }

    init(of identifier: UInt32) {
        self.identifier = identifier
    }

    /// Adds the body of a message.
    mutating func add(_ body: UnsafeRawBufferPointer) {
        guard body.count >= Layout.size, body[Layout.direction] == Layout.out else { return }
        var template: UnsafeRawBufferPointer?
        var interface: UInt32 = 0
        for (type, value) in Attributes(body.bytes(from: Layout.size)) {
            switch type {
            case Layout.template: template = value
            case Layout.interface: interface = value.word ?? 0
            default: break
            }
        }
        guard identifier != 0, interface == identifier, body[Layout.action] == Layout.allow else { return }
        guard let end = Self.end(body, template) else { return ends = nil }
        ends?.append(end)
    }

    private static func end(_ body: UnsafeRawBufferPointer, _ template: UnsafeRawBufferPointer?) -> TunnelFarEnd? {
        guard let template, template.count >= Layout.templateSize, template[Layout.mode] == Layout.tunnel,
            body[Layout.transport] == 0, let far = address(template, family: template.word16(Layout.templateFamily)),
            !far.isUnspecified
        else { return nil }
        let length = Int(body[Layout.prefixLength])
        guard let destination = address(body, family: body.word16(Layout.family)) else {
            // A policy without a family covers both families.
            return length == 0 && body.word16(Layout.family) == 0 ? TunnelFarEnd(far) : nil
        }
        guard length <= destination.family.bitCount else { return nil }
        return TunnelFarEnd(far, accepting: [AddressPrefix(destination, length: length)])
    }

    /// Returns the address at the beginning of a structure.
    private static func address(_ structure: UnsafeRawBufferPointer, family: CInt?) -> WireAddress? {
        switch family {
        case AF_INET: WireAddress(bytes: structure.bytes(from: 0, length: 4))
        case AF_INET6: WireAddress(bytes: structure.bytes(from: 0, length: 16))
        default: nil
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func word16(_ offset: Int) -> CInt? { load(UInt16.self, at: offset).map(CInt.init) }
}
