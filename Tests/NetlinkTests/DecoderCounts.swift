import Glibc

@testable import LinuxSupport
@testable import Netlink

/// What came out of datagrams that were given to every decoder.
struct DecoderCounts: Sendable {
    var datagrams = 0
    var links = 0
    var routes = 0
    var multipathRoutes = 0
    var rules = 0
    var neighbours = 0
    var attributes = 0
    var events = 0
    /// Neighbours that change no route.
    var ignored = 0
    var prefixes = 0

    mutating func count(_ datagram: [UInt8]) {
        // A block of its own and of just this size, so that a sanitizer sees a read too far.
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
        // As the event socket gives it, cut off.
        var head = EventBurst()
        head.note(bytes.bytes(from: 0, length: 256))
        events += head.messages - burst.messages
        var rest = bytes
        while let header = MessageHeader(rest) {
            decode(rest.bytes(from: MessageHeader.size, length: header.length - MessageHeader.size), header.kind)
            rest = rest.bytes(from: header.length.alignedToAttribute)
        }
    }

    /// Each decoder gets every body: a wrong kind is a mutation too.
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
