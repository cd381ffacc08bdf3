import CLinux
import Foundation
import Glibc
import NetworkLab
import TestSupport
import Testing

@testable import LinuxSupport
@testable import Netlink

/// The decoders with messages that no kernel sends. They must neither crash nor read beyond the end.
///
/// DECODER_SEED repeats the cases of a failed run. CHECK_MUTATIONS sets the number of cases.
@Suite struct DecoderTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["DECODER_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
    private static let cases = MutationCount.value

    @Test(.enabled(if: TestNamespace.isPermitted))
    func `real messages are decoded`() async throws {
        let counts = try await LabThread.detached {
            try DecoderCapture.datagrams().reduce(into: DecoderCounts()) { $0.count($1) }
        }
        // The links u0, far, lo and b0, and tunnels if the kernel supports them.
        #expect(counts.links >= 4)
        #expect(counts.routes >= 20)
        #expect(counts.multipathRoutes >= 2)
        // Five rules of the kernel, four of this test, and those that the group announced.
        #expect(counts.rules >= 9)
        #expect(counts.neighbours >= 2)
        #expect(counts.prefixes >= 10)
        #expect(counts.events + counts.ignored == counts.datagrams)
    }

    @Test(.enabled(if: TestNamespace.isPermitted))
    func `damaged messages never crash the decoders`() async throws {
        print("decoders: \(Self.cases) cases, DECODER_SEED=\(Self.seed)")
        let decoded = try await LabThread.detached {
            let datagrams = try DecoderCapture.datagrams()
            let messages = datagrams.flatMap(Self.messages) + datagrams.prefix(64)
            var mutator = DecoderMutator(seed: Self.seed)
            var counts = DecoderCounts()
            for _ in 0..<Self.cases {
                guard let message = messages.randomElement(using: &mutator) else { break }
                counts.count(mutator.spoiled(message, with: messages))
            }
            return counts
        }
        // The messages are damaged but not destroyed. Many are decoded, so all levels of the decoders are reached.
        print("decoders: \(decoded)")
        #expect(decoded.datagrams == Self.cases)
        #expect(decoded.links > 0 && decoded.routes > 0 && decoded.prefixes > 0)
        #expect(decoded.rules > 0 && decoded.neighbours > 0)
    }

    @Test(.enabled(if: TestNamespace.isPermitted))
    func `truncated messages of every type never crash the decoders`() async throws {
        try await LabThread.detached {
            var kinds: Set<UInt32> = []
            var counts = DecoderCounts()
            for message in try DecoderCapture.datagrams().flatMap(Self.messages) {
                // One message of each kind and size is sufficient.
                guard message.count > 5 else { continue }
                let kind = UInt32(message[4]) | UInt32(message[5]) << 8 | UInt32(message.count) << 16
                guard kinds.insert(kind).inserted else { continue }
                for length in 0...message.count { counts.count(Array(message.prefix(length))) }
            }
            #expect(counts.datagrams > 1000)
        }
    }

    /// Returns the single messages of a datagram.
    @Sendable private static func messages(_ datagram: [UInt8]) -> [[UInt8]] {
        datagram.withUnsafeBytes { bytes in
            var messages: [[UInt8]] = []
            var rest = bytes
            while let header = MessageHeader(rest) {
                messages.append(Array(rest.bytes(from: 0, length: header.length)))
                rest = rest.bytes(from: header.length.alignedToAttribute)
            }
            return messages
        }
    }
}

/// Datagrams of the real kernel with every kind of message that is decoded, from a namespace with many objects.
enum DecoderCapture {
    /// The configuration of the namespace. Unsupported objects are omitted.
    private static let commands = [
        "link set lo up", "link add u0 type veth peer name far", "link set far up", "link set u0 up",
        "addr add 192.0.2.2/24 dev u0", "addr add 2001:db8::2/64 dev u0 nodad", "link add b0 type bridge",
        "link add t0 type gretap remote 192.0.2.9 local 192.0.2.2", "link add t1 type ip6tnl remote 2001:db8::9",
        "link add x0 type vxlan id 7 remote 192.0.2.8 dstport 4789 dev u0", "link set far master b0",
        "route add default via 192.0.2.1 mtu 1400", "route add default via 2001:db8::1",
        "route add 203.0.113.0/24 nexthop via 192.0.2.3 nexthop via 192.0.2.4 weight 3",
        "route add 198.51.100.0/24 via inet6 2001:db8::7", "route add prohibit 198.51.100.9",
        "-6 route add 2001:db8:1::/48 nexthop via 2001:db8::3 nexthop via 2001:db8::4",
        "-6 route add 2001:db8:2::/48 via 2001:db8::5 expires 100",
        "nexthop add id 10 via 192.0.2.5 dev u0", "nexthop add id 11 via 192.0.2.6 dev u0",
        "nexthop add id 12 group 10,3/11", "nexthop add id 13 blackhole", "route add 198.18.0.0/15 nhid 12",
        "rule add fwmark 7 lookup 77",
        "rule add not from 192.0.2.0/24 to 198.51.100.0/24 iif lo oif u0 uidrange 5-9 prohibit",
        "rule add pref 50 goto 32766", "rule add table main suppress_prefixlength 0",
        "neigh add 192.0.2.1 lladdr 02:00:00:00:00:99 dev u0 nud permanent",
        "neigh add 2001:db8::1 lladdr 02:00:00:00:00:99 dev u0 nud permanent",
    ]

    /// The kinds of objects that are dumped, with the size of the request body.
    private static let questions = [
        (RTM_GETLINK, MemoryLayout<ifinfomsg>.size), (RTM_GETADDR, MemoryLayout<ifaddrmsg>.size),
        (RTM_GETROUTE, MemoryLayout<rtmsg>.size), (RTM_GETRULE, MemoryLayout<rtmsg>.size),
        (RTM_GETNEIGH, MemoryLayout<ndmsg>.size), (RTM_GETNEXTHOP, MemoryLayout<nhmsg>.size),
    ]

    /// The answers to dumps of links, addresses, routes, rules, neighbours and next hops, and the events of one link.
    static func datagrams() throws -> [[UInt8]] {
        let namespace = try LabNamespace()
        defer { namespace.close() }
        let events = try namespace.perform {
            try NetlinkSocket(family: NETLINK_ROUTE).collected { socket in
                for group in MulticastGroup.reachability { try socket.join(group) }
                for command in commands { _ = try? namespace.ip(command) }
            }
        }
        let dumps = try namespace.perform {
            try questions.flatMap { kind, size in
                try NetlinkSocket(family: NETLINK_ROUTE).collected { socket in
                    var request = RequestBuilder()
                    request.begin(MessageKind(rawValue: UInt16(kind)), flags: NLM_F_DUMP, sequence: 1)
                    for _ in 0..<size / 4 { request.append(UInt32(0)) }
                    try socket.send(request.bytes)
                }
            }
        }
        return events + dumps
    }
}

extension NetlinkSocket {
    /// Returns all messages that the socket received during and after `body`.
    consuming func collected(_ body: (borrowing NetlinkSocket) throws -> Void) throws -> [[UInt8]] {
        setReceiveBuffer(bytes: 4 << 20)
        try setNonBlocking()
        try body(self)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var datagrams: [[UInt8]] = []
        while case let count = recv(descriptor, buffer.baseAddress, buffer.count, 0), count > 0 {
            datagrams.append(Array(buffer.prefix(count)))
        }
        return datagrams
    }
}

/// Reproducible random damage to messages.
struct DecoderMutator: RandomNumberGenerator {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    mutating func next() -> UInt64 { generator.next() }

    /// Returns a message with one to six errors. Parts may come from `others`.
    mutating func spoiled(_ message: [UInt8], with others: [[UInt8]]) -> [UInt8] {
        var message = message
        for _ in 0..<Int.random(in: 1...6, using: &self) { spoil(&message, others) }
        return message
    }

    private mutating func spoil(_ message: inout [UInt8], _ others: [[UInt8]]) {
        guard !message.isEmpty else { return }
        let place = Int.random(in: message.indices, using: &self)
        switch Int.random(in: 0..<8, using: &self) {
        case 0:
            message[place] = UInt8.random(in: 0 ... .max, using: &self)
        case 1:
            message[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 2:
            message.removeSubrange(place...)
        case 3:
            message.removeSubrange(place..<min(message.count, place + Int.random(in: 1...16, using: &self)))
        case 4:
            let count = Int.random(in: 1...32, using: &self)
            message.insert(contentsOf: (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }, at: place)
        case 5:
            // Lengths: small, very large, and different by one.
            let values: [UInt8] = [0, 1, 3, 4, 5, 0x7f, 0x80, 0xff]
            let start = place & ~3
            for offset in start..<min(start + Int.random(in: 1...4, using: &self), message.count) {
                message[offset] = values.randomElement(using: &self) ?? 0
            }
        case 6:
            guard let other = others.randomElement(using: &self), !other.isEmpty else { return }
            let start = Int.random(in: other.indices, using: &self) & ~3
            message.replaceSubrange((place & ~3)..., with: other[start...])
        default:
            let end = min(message.count, place + Int.random(in: 4...64, using: &self))
            message.insert(contentsOf: message[place..<end], at: place & ~3)
        }
    }
}

/// The results of passing datagrams to every decoder.
struct DecoderCounts: Sendable {
    var datagrams = 0
    var links = 0
    var routes = 0
    var multipathRoutes = 0
    var rules = 0
    var neighbours = 0
    var attributes = 0
    var events = 0
    /// The number of neighbours that change no route.
    var ignored = 0
    var prefixes = 0

    mutating func count(_ datagram: [UInt8]) {
        // A separate block of exactly this size, so that a sanitizer detects reads beyond the end.
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: datagram.count, alignment: 4)
        defer { block.deallocate() }
        block.copyBytes(from: datagram)
        let bytes = UnsafeRawBufferPointer(block)
        datagrams += 1
        var burst = EventBurst()
        burst.note(bytes)
        events += burst.messages
        if let kind = MessageHeader(bytes)?.kind, kind == .newNeighbour || kind == .deleteNeighbour {
            ignored += 1 - burst.messages
        }
        prefixes += burst.prefixes.list.count
        // Truncated, as the event socket receives it.
        var head = EventBurst()
        head.note(bytes.bytes(from: 0, length: 256))
        events += head.messages - burst.messages
        var rest = bytes
        while let header = MessageHeader(rest) {
            decode(rest.bytes(from: MessageHeader.size, length: header.length - MessageHeader.size), header.kind)
            rest = rest.bytes(from: header.length.alignedToAttribute)
        }
    }

    /// Each decoder receives every body, because a wrong kind is also a kind of damage.
    private mutating func decode(_ body: UnsafeRawBufferPointer, _ kind: MessageKind) {
        let link = Link(body: body)
        let route = Route(body: body)
        let rule = RoutingRule(body: body)
        let neighbour = Neighbour(body: body)
        _ = InterfaceAddress(body: body)?.description
        _ = GenericFamily(body: body)
        _ = WirelessRole(body: body, interface: 1)
        if kind == .newLink, link != nil { links += 1 }
        if kind == .newRoute, let route {
            routes += 1
            if route.nextHops.count > 1 { multipathRoutes += 1 }
        }
        if kind == .newRule, rule != nil { rules += 1 }
        if kind == .newNeighbour, neighbour?.hardwareAddress.count == 6 { neighbours += 1 }
        for offset in [0, 8, 12, 16] {
            for (_, value) in Attributes(body.bytes(from: offset)) {
                attributes += 1
                _ = (value.number, value.word, value.text)
                _ = WireAddress(bytes: value)?.description
                _ = WireAddress(via: value)
                _ = NextHop.all(value)
                for _ in Attributes(value) { attributes += 1 }
            }
        }
    }
}
