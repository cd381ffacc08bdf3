import CLinux
import LinuxSupport
import NetworkLab
import Testing

@testable import Netlink

/// The far ends of tunnels in messages of the kernel. Few machines support all kinds.
@Suite struct TunnelDecodingTests {
    private static let near = WireAddress(ipv4: 0xc000_0202)
    private static let far = WireAddress(ipv4: 0xc633_6409)
    private static let far6 = WireAddress(family: .ipv6, bits: 0x2001_0db8 << 96 | 9)

    @Test(arguments: [
        ("gre", IFLA_GRE_REMOTE, IFLA_GRE_LOCAL, IFLA_GRE_FWMARK),
        ("gretap", IFLA_GRE_REMOTE, IFLA_GRE_LOCAL, IFLA_GRE_FWMARK),
        ("erspan", IFLA_GRE_REMOTE, IFLA_GRE_LOCAL, IFLA_GRE_FWMARK),
        ("ip6erspan", IFLA_GRE_REMOTE, IFLA_GRE_LOCAL, IFLA_GRE_FWMARK),
        ("vti", IFLA_VTI_REMOTE, IFLA_VTI_LOCAL, IFLA_VTI_FWMARK),
        ("vti6", IFLA_VTI_REMOTE, IFLA_VTI_LOCAL, IFLA_VTI_FWMARK),
        ("ipip", IFLA_IPTUN_REMOTE, IFLA_IPTUN_LOCAL, IFLA_IPTUN_FWMARK),
    ])
    func `a tunnel has a far end, a source and a mark`(kind: String, remote: Int, local: Int, mark: Int) throws {
        for address in [Self.far, Self.far6] {
            let body = link(kind, [(remote, address.bytes), (local, Self.near.bytes), (mark, [7, 0, 0, 0])])
            let found = try #require(body.withUnsafeBytes { Link(body: $0) })
            #expect(found.tunnelRemote == address && found.tunnelLocal == Self.near && found.tunnelMark == 7)
        }
        let none = link(kind, [(remote, [0, 0, 0, 0])])
        #expect(none.withUnsafeBytes { Link(body: $0) }?.tunnelRemote == nil)
        let group = link(kind, [(remote, [239, 1, 1, 1])])
        #expect(group.withUnsafeBytes { Link(body: $0) }?.tunnelRemote == nil)
    }

    @Test func `a link has the number of its carrier losses`() throws {
        let body = link("veth", []) + attribute(Int(IFLA_CARRIER_DOWN_COUNT), [3, 1, 0, 0])
        #expect(body.withUnsafeBytes { Link(body: $0) }?.carrierLosses == 259)
        #expect(link("veth", []).withUnsafeBytes { Link(body: $0) }?.carrierLosses == 0)
    }

    @Test func `a forwarding table contains the destinations of unknown stations`() {
        func entry(_ station: [UInt8], link: Int32, family: Int32 = AF_BRIDGE) -> TunnelFarEnd? {
            var builder = RequestBuilder()
            builder.begin(.newNeighbour, sequence: 0)
            builder.append(
                ndmsg(
                    ndm_family: UInt8(family),
                    ndm_pad1: 0,
                    ndm_pad2: 0,
                    ndm_ifindex: link,
                    ndm_state: 0,
                    ndm_flags: 0,
                    ndm_type: 0
                )
            )
            builder.append(attribute: Int(NDA_LLADDR), station)
            builder.append(attribute: Int(NDA_DST), Self.far)
            return builder.bytes.withUnsafeBytes {
                TunnelFarEnd(forwarding: $0.bytes(from: MessageHeader.size), of: 5)
            }
        }
        let zero = [UInt8](repeating: 0, count: 6)
        #expect(entry(zero, link: 5) == TunnelFarEnd(Self.far))
        #expect(entry(zero, link: 6) == nil)
        #expect(entry([2, 0, 0, 0, 0, 1], link: 5) == nil)
        #expect(entry(zero, link: 5, family: AF_INET) == nil)
    }

    @Test func `WireGuard peers are collected from several messages`() {
        var peers = WireGuardPeers()
        let endpoint = [2, 0, 0xca, 0x6c] + Self.far.bytes + [UInt8](repeating: 0, count: 8)
        let endpoint6 = [10, 0, 0xca, 0x6c, 0, 0, 0, 0] + Self.far6.bytes + [0, 0, 0, 0]
        let first = peer(1, endpoint, [([0, 0, 0, 0], 0)])
        peers.add(device([(WGDEVICE_A_FWMARK, [0x6c, 0xca, 0, 0]), (WGDEVICE_A_PEERS, nest([first]))]))
        // The first peer continues. Then follow another peer and one without an endpoint.
        let rest = [peer(1, nil, [([10, 0, 0, 0], 8)]), peer(2, endpoint6, [(Self.far6.bytes, 64)]), peer(3, nil, [])]
        peers.add(device([(WGDEVICE_A_PEERS, nest(rest))]))
        let zero = WireAddress(ipv4: 0)
        #expect(
            peers.ends == [
                TunnelFarEnd(
                    Self.far,
                    accepting: [
                        AddressPrefix(zero, length: 0), AddressPrefix(WireAddress(ipv4: 0x0a00_0000), length: 8),
                    ],
                    mark: 0xca6c
                ),
                TunnelFarEnd(Self.far6, accepting: [AddressPrefix(Self.far6, length: 64)], mark: 0xca6c),
                TunnelFarEnd(nil, accepting: [], mark: 0xca6c),
            ]
        )
        #expect(
            TunnelFarEnd.chosen(among: peers.ends, for: WireAddress(ipv4: 0x0a01_0101)).map(\.address) == [Self.far]
        )
        #expect(TunnelFarEnd.chosen(among: peers.ends, for: Self.far6).map(\.address) == [Self.far6])
        #expect(TunnelFarEnd.chosen(among: peers.ends, for: WireAddress(family: .ipv6, bits: 1)).isEmpty)
    }

    @Test func `damaged messages of WireGuard never crash the decoder`() {
        let endpoint = [2, 0, 0xca, 0x6c] + Self.far.bytes + [UInt8](repeating: 0, count: 8)
        let body = device([(WGDEVICE_A_PEERS, nest([peer(1, endpoint, [([10, 0, 0, 0], 200), ([10, 0], 8)])]))])
        var peers = WireGuardPeers()
        for length in 0...body.count { peers.add(Array(body.prefix(length))) }
        for index in body.indices {
            var spoiled = body
            spoiled[index] ^= 0xff
            peers.add(spoiled)
        }
        #expect(peers.ends.allSatisfy { $0.accepted?.allSatisfy { $0.length <= 32 } ?? false })
    }

    @Test func `the policies of an xfrm interface contain its far ends`() {
        let body = link("xfrm", [(IFLA_XFRM_IF_ID, [7, 0, 0, 0])])
        #expect(body.withUnsafeBytes { Link(body: $0) }?.policyIdentifier == 7)
        func ends(_ bodies: [[UInt8]]) -> [TunnelFarEnd]? {
            var policies = TunnelPolicies(of: 7)
            for body in bodies { body.withUnsafeBytes { policies.add($0) } }
            return policies.ends
        }
        let all = AddressPrefix(WireAddress(ipv4: 0), length: 0)
        #expect(ends([policy()]) == [TunnelFarEnd(Self.far, accepting: [all])])
        let six = AddressPrefix(Self.far6, length: 64)
        #expect(ends([policy(to: Self.far6, length: 64)]) == [TunnelFarEnd(Self.far, accepting: [six])])
        #expect(ends([policy(interface: 8), policy(direction: 0), policy(action: 1)]) == [])
        // A policy for one protocol, in transport mode, or without a template is not evaluated.
        #expect(ends([policy(), policy(transport: 6)]) == nil)
        #expect(ends([policy(mode: 0)]) == nil)
        #expect(ends([policy(length: 33)]) == nil)
        #expect(ends([policy(far: WireAddress(ipv4: 0))]) == nil)
        let whole = policy()
        for length in 0..<whole.count {
            #expect(ends([Array(whole.prefix(length))]).map { $0.count <= 1 } ?? true)
        }
    }

    @Test(.enabled(if: TestNamespace.isPermitted))
    func `the kernel's own sockets are listed`() async throws {
        try await LabThread.detached {
            let namespace = try LabNamespace()
            defer { namespace.close() }
            try namespace.ip(
                "link set lo up",
                "link add x0 type vxlan id 7 local 127.0.0.1 dstport 4789 dev lo",
                "link set x0 up"
            )
            try namespace.perform {
                let bound = try [4789, 4790, 0].map { try TCPConnectionDump.hasDatagramSocket(port: $0) }
                #expect(bound == [true, false, false])
            }
        }
    }

    @Test(.enabled(if: TestNamespace.isPermitted))
    func `the far ends of a VXLAN device are those of its forwarding table`() async throws {
        try await LabThread.detached {
            let namespace = try LabNamespace()
            defer { namespace.close() }
            try namespace.ip(
                "link set lo up",
                "link add x0 type vxlan id 7 local 127.0.0.1 dstport 4789 dev lo",
                "link add x1 type vxlan id 8 local 127.0.0.1 remote 127.0.0.8 dstport 4789 dev lo"
            )
            for end in ["127.0.0.2", "127.0.0.3"] {
                let words = ["fdb", "append", "00:00:00:00:00:00", "dev", "x0", "dst", end]
                #expect(try namespace.run("bridge", words).status == 0)
            }
            try namespace.perform {
                let sockets = try RouteSockets()
                let link = try #require(try sockets.answer(to: .linkNamed("x0")).link)
                let ends = try sockets.answer(to: .forwarding(link: link.index)).forwarding
                #expect(ends.map(\.address) == [WireAddress(ipv4: 0x7f00_0002), WireAddress(ipv4: 0x7f00_0003)])
            }
        }
    }

    // MARK: Messages as the kernel sends them

    private func link(_ kind: String, _ data: [(Int, [UInt8])]) -> [UInt8] {
        var builder = RequestBuilder()
        builder.begin(.newLink, sequence: 0)
        var head = ifinfomsg()
        head.ifi_index = 5
        builder.append(head)
        builder.append(attribute: IFLA_IFNAME, text: "t0")
        let information =
            attribute(Int(IFLA_INFO_KIND), Array(kind.utf8) + [0])
            + attribute(Int(IFLA_INFO_DATA), data.flatMap(attribute))
        builder.append(attribute: IFLA_LINKINFO, information)
        return Array(builder.bytes.dropFirst(MessageHeader.size))
    }

    /// Returns an xfrm_userpolicy_info with its template.
    private func policy(
        to destination: WireAddress = WireAddress(ipv4: 0),
        length: UInt8 = 0,
        far: WireAddress = far,
        direction: UInt8 = 1,
        action: UInt8 = 0,
        transport: UInt8 = 0,
        mode: UInt8 = 1,
        interface: UInt8 = 7
    ) -> [UInt8] {
        func put(_ bytes: [UInt8], at offset: Int, in body: inout [UInt8]) {
            body.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        }
        var body = [UInt8](repeating: 0, count: 168)
        put(destination.bytes, at: 0, in: &body)
        put([destination.family.rawValue, 0, length], at: 40, in: &body)
        put([transport], at: 44, in: &body)
        put([direction, action], at: 160, in: &body)
        var template = [UInt8](repeating: 0, count: 64)
        put(far.bytes, at: 0, in: &template)
        put([far.family.rawValue], at: 24, in: &template)
        put([mode], at: 48, in: &template)
        return body + attribute(5, template) + attribute(31, [interface, 0, 0, 0])
    }

    private func device(_ attributes: [(wgdevice_attribute, [UInt8])]) -> [UInt8] {
        [UInt8(WG_CMD_GET_DEVICE.rawValue), 1, 0, 0] + attributes.flatMap { attribute(Int($0.0.rawValue), $0.1) }
    }

    private func nest(_ elements: [[UInt8]]) -> [UInt8] { elements.flatMap { attribute(0, $0) } }

    private func peer(_ key: UInt8, _ endpoint: [UInt8]?, _ allowed: [([UInt8], UInt8)]) -> [UInt8] {
        let prefixes = allowed.map { address, length in
            attribute(Int(WGALLOWEDIP_A_FAMILY.rawValue), [address.count == 4 ? 2 : 10, 0])
                + attribute(Int(WGALLOWEDIP_A_IPADDR.rawValue), address)
                + attribute(Int(WGALLOWEDIP_A_CIDR_MASK.rawValue), [length])
        }
        return attribute(Int(WGPEER_A_PUBLIC_KEY.rawValue), [UInt8](repeating: key, count: 32))
            + (endpoint.map { attribute(Int(WGPEER_A_ENDPOINT.rawValue), $0) } ?? [])
            + attribute(Int(WGPEER_A_ALLOWEDIPS.rawValue), nest(prefixes))
    }

    private func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
        var builder = RequestBuilder()
        builder.begin(.newLink, sequence: 0)
        builder.append(attribute: type, value)
        return Array(builder.bytes.dropFirst(MessageHeader.size))
    }
}

extension WireGuardPeers {
    fileprivate mutating func add(_ body: [UInt8]) { body.withUnsafeBytes { add($0) } }
}
