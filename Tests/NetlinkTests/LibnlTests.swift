import CLinux
import CNetlink
import Glibc
import NetworkLab
import Testing

@testable import LinuxSupport
@testable import Netlink

/// The reasons why some messages are decoded by this project and others by libnl-route (`docs/libnl.md`), shown with
/// messages of the real kernel.
@Suite(.enabled(if: TestNamespace.isPermitted)) struct LibnlTests {
    /// All messages of a namespace with many objects.
    private static func bodies(_ kind: MessageKind) async throws -> [[UInt8]] {
        try await LabThread.detached {
            try DecoderCapture.datagrams().flatMap { datagram in
                datagram.withUnsafeBytes { bytes in
                    var bodies: [[UInt8]] = []
                    var rest = bytes
                    while let header = MessageHeader(rest) {
                        let size = MessageHeader.size
                        if header.kind == kind {
                            bodies.append(Array(rest.bytes(from: size, length: header.length - size)))
                        }
                        rest = rest.bytes(from: header.length.alignedToAttribute)
                    }
                    return bodies
                }
            }
        }
    }

    /// Returns the body without one attribute; nil if it has none of that type.
    private static func body(_ body: [UInt8], head: Int, without type: Int) -> [UInt8]? {
        var result = Array(body.prefix(head))
        var isFound = false
        body.withUnsafeBytes { bytes in
            for (kind, value) in Attributes(bytes.bytes(from: head)) {
                if kind == type {
                    isFound = true
                    continue
                }
                result += withUnsafeBytes(of: (UInt16(value.count + 4), UInt16(kind))) { Array($0) } + value
                while result.count % 4 != 0 { result.append(0) }
            }
        }
        return isFound ? result : nil
    }

    /// Returns the body of a message that `write` creates.
    private static func written(_ write: (inout RequestBuilder) -> Void) -> [UInt8] {
        var message = RequestBuilder()
        message.begin(.newAddress, sequence: 0)
        write(&message)
        return Array(message.bytes.dropFirst(MessageHeader.size))
    }

    /// Returns whether libnl-route creates equal objects from both bodies.
    private static func isSame(_ kind: MessageKind, _ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in
                guard let one = RouteObject(kind, body: one), let other = RouteObject(kind, body: other) else {
                    return false
                }
                return one.read { one in other.read { nl_object_diff64(one, $0) == 0 } }
            }
        }
    }

    /// Expects that libnl-route ignores an attribute that `read` decodes, in a message of this kernel.
    private static func expectLoss<Value: Equatable>(
        _ kind: MessageKind,
        head: Int,
        of type: Int,
        _ read: (UnsafeRawBufferPointer) -> Value?
    ) async throws {
        var found = 0
        for body in try await bodies(kind) {
            guard let other = Self.body(body, head: head, without: type) else { continue }
            guard body.withUnsafeBytes(read) != other.withUnsafeBytes(read) else { continue }
            found += 1
            #expect(isSame(kind, body, other))
        }
        #expect(found > 0)
    }

    @Test func `libnl-route decodes an address with all flags and without its peer`() async throws {
        let addresses = try await Self.bodies(.newAddress).compactMap {
            $0.withUnsafeBytes { InterfaceAddress(body: $0) }
        }
        #expect(addresses.contains { $0.description == "192.0.2.2/24" })
        #expect(addresses.contains { $0.description == "2001:db8::2/64" && $0.isUsable })
        var head = ifaddrmsg()
        (head.ifa_family, head.ifa_prefixlen, head.ifa_index) = (UInt8(AF_INET), 32, 7)
        let body = Self.written {
            $0.append(head)
            $0.append(attribute: Int(IFA_ADDRESS), [192, 0, 2, 9])
            $0.append(attribute: Int(IFA_LOCAL), [192, 0, 2, 2])
            // More than the eight bits of the header.
            $0.append(attribute: Int(IFA_FLAGS), UInt32(0x280))
        }
        let address = body.withUnsafeBytes { InterfaceAddress(body: $0) }
        #expect(address?.description == "192.0.2.2/32")
        #expect(address?.interface == 7 && address?.flags.rawValue == 0x280)
    }

    @Test func `libnl-route decodes a neighbour`() async throws {
        let neighbours = try await Self.bodies(.newNeighbour).compactMap { $0.withUnsafeBytes { Neighbour(body: $0) } }
        #expect(neighbours.contains { $0.state == .permanent && $0.hardwareAddress == [2, 0, 0, 0, 0, 0x99] })
    }

    @Test func `libnl-route loses the confirmation time of a neighbour`() async throws {
        let head = MemoryLayout<ndmsg>.size
        try await Self.expectLoss(.newNeighbour, head: head, of: Int(NDA_CACHEINFO)) {
            Neighbour(body: $0)?.sinceConfirmed
        }
    }

    @Test func `an event only needs its header`() async throws {
        func burst(_ message: [UInt8]) -> EventBurst {
            var burst = EventBurst()
            message.withUnsafeBytes { burst.note($0) }
            return burst
        }
        for kind in [MessageKind.newLink, .newAddress, .newRoute, .newRule, .newNextHop, .newNeighbour] {
            for body in try await Self.bodies(kind) {
                var message = RequestBuilder()
                message.begin(kind, sequence: 0)
                let whole = message.bytes + body
                #expect(burst(Array(whole.prefix(EventBurst.headLimit))) == burst(whole))
            }
        }
    }

    @Test func `libnl maps three kernel errors to one`() {
        let reasons = [ENETUNREACH, EHOSTUNREACH, ENETDOWN]
        #expect(Set(reasons.map(nl_syserr2nlerr)).count == 1)
        #expect(Set(reasons.map(SystemError.init(rawValue:))).count == 3)
    }

    @Test func `libnl-route does not decode router options`() {
        let body = Self.written { $0.append(nduseroptmsg()) }
        #expect(body.withUnsafeBytes { RouteObject(.newRouterOption, body: $0) == nil })
    }

    @Test func `libnl-route loses the lifetime and the next hop object of a route`() async throws {
        let head = MemoryLayout<rtmsg>.size
        try await Self.expectLoss(.newRoute, head: head, of: Int(RTA_CACHEINFO.rawValue)) { Route(body: $0)?.lifetime }
        try await Self.expectLoss(.newRoute, head: head, of: Int(RTA_NH_ID.rawValue)) { Route(body: $0)?.nextHopID }
    }

    @Test func `libnl-route loses the users and the suppressed prefix length of a rule`() async throws {
        let head = MemoryLayout<fib_rule_hdr>.size
        try await Self.expectLoss(.newRule, head: head, of: Int(FRA_UID_RANGE)) { RoutingRule(body: $0)?.users }
        try await Self.expectLoss(.newRule, head: head, of: Int(FRA_SUPPRESS_PREFIXLEN)) {
            RoutingRule(body: $0)?.suppressedLength
        }
    }

    @Test func `libnl-route loses the inversion of a rule`() async throws {
        let inverted = try await Self.bodies(.newRule).filter {
            $0.withUnsafeBytes { RoutingRule(body: $0)?.isInverted } == true
        }
        let body = try #require(inverted.first)
        var other = body
        let flags = try #require(MemoryLayout<fib_rule_hdr>.offset(of: \fib_rule_hdr.flags))
        for index in flags..<flags + 4 { other[index] = 0 }
        #expect(other.withUnsafeBytes { RoutingRule(body: $0)?.isInverted } == false)
        #expect(Self.isSame(.newRule, body, other))
    }

    @Test func `libnl-route loses the parent bus of a link`() async throws {
        // No device in a test namespace has a bus, so one is added to the kernel's message.
        let body = try #require(try await Self.bodies(.newLink).first)
        let attribute = Self.written { $0.append(attribute: Int(IFLA_PARENT_DEV_BUS_NAME), text: "usb") }
        #expect((body + attribute).withUnsafeBytes { Link(body: $0)?.parentBus } == "usb")
        #expect(Self.isSame(.newLink, body, body + attribute))
    }

    @Test func `libnl-route reads truncated numbers`() {
        var head = ifaddrmsg()
        head.ifa_family = UInt8(AF_INET)
        let body = Self.written {
            $0.append(head)
            $0.append(attribute: Int(IFA_LOCAL), [192, 0, 2, 2])
            $0.append(attribute: Int(IFA_FLAGS), [])
        }
        // libnl reads the bytes after the attribute, so `RouteObject` puts zeros there.
        #expect(body.withUnsafeBytes { InterfaceAddress(body: $0) }?.flags == [])
    }

    @Test func `libnl and ip have different names of tables`() {
        func name(_ table: CInt) -> String {
            var text = [CChar](repeating: 0, count: 32)
            return String(cString: rtnl_route_table2str(table, &text, text.count))
        }
        #expect([253, 254, 255].map(name) == ["default", "main", "local"])
        // `ip route show table compat` is rejected, and numbers are written in another format.
        #expect(name(252) == "compat")
        #expect(name(300) == "0x12c")
    }

    @Test func `libnl has fewer names of protocols than ip`() {
        func name(_ write: (UnsafeMutablePointer<CChar>, Int) -> UnsafeMutablePointer<CChar>?) -> String? {
            var text = [CChar](repeating: 0, count: 32)
            return write(&text, text.count).map { String(cString: $0) }
        }
        // RTPROT_DHCP and RTPROT_BIRD, which `ip` calls `dhcp` and `bird`.
        let protocols = [2, 16, 12].map { number in name { rtnl_route_proto2str(number, $0, $1) } }
        #expect(protocols == ["kernel", "0x10", "0xc"])
        // The names of scopes are the same.
        #expect([0, 253].map { number in name { rtnl_scope2str(number, $0, $1) } } == ["global", "link"])
    }

    @Test func `a request built by libnl has the same bytes`() throws {
        let query = RouteQuery(destination: try #require(WireAddress("192.0.2.9")))
        var ours = RequestBuilder()
        ours.append(query, sequence: 7)
        let message = try #require(nlmsg_alloc_size(256))
        defer { nlmsg_free(message) }
        var head = rtmsg()
        (head.rtm_family, head.rtm_dst_len, head.rtm_flags) = (UInt8(AF_INET), 32, UInt32(RTM_F_LOOKUP_TABLE))
        _ = nlmsg_put(message, 0, 7, CInt(RTM_GETROUTE), 0, NLM_F_REQUEST)
        _ = nlmsg_append(message, &head, MemoryLayout<rtmsg>.size, CInt(NLMSG_ALIGNTO))
        nla_put_u32(message, CInt(RTA_DST.rawValue), in_addr_t(0xc000_0209).bigEndian)
        let theirs = try #require(nlmsg_hdr(message))
        let length = Int(theirs.pointee.nlmsg_len)
        #expect(ours.bytes == Array(UnsafeRawBufferPointer(start: theirs, count: length)))
    }

    /// Prints figures, without limits. Those of `docs/libnl.md` are of an optimized build.
    @Test func `the cost of a message is measured`() async throws {
        for (kind, name) in [(MessageKind.newRoute, "route"), (.newLink, "link"), (.newAddress, "address")] {
            let body = try #require(try await Self.bodies(kind).last)
            let start = SystemClock.monotonic
            for _ in 0..<10_000 { _ = body.withUnsafeBytes { RouteObject(kind, body: $0) == nil } }
            let middle = SystemClock.monotonic
            for _ in 0..<10_000 {
                body.withUnsafeBytes {
                    switch kind {
                    case .newRoute: _ = Route(body: $0)
                    case .newLink: _ = Link(body: $0)
                    default: _ = InterfaceAddress(body: $0)
                    }
                }
            }
            let end = SystemClock.monotonic
            print("libnl-route \(name): \((middle - start) / 10_000), decoded: \((end - middle) / 10_000)")
        }
    }
}
