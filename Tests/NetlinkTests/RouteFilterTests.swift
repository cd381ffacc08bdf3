import CLinux
import Testing

@testable import LinuxSupport
@testable import Netlink

/// The program of the filter, run by an interpreter and compared with what overlaps in plain sight.
@Suite struct RouteFilterTests {
    private func prefix(_ text: String) throws -> AddressPrefix {
        let parts = text.split(separator: "/")
        let address = try #require(WireAddress(String(parts[0])))
        return AddressPrefix(address, length: parts.count == 2 ? Int(parts[1]) ?? -1 : address.family.bitCount)
    }

    private func interpreter(_ watched: String...) throws -> FilterInterpreter {
        try FilterInterpreter(RouteFilter(watching: watched.map(prefix)).program)
    }

    @Test(
        "What was measured on the kernel",
        arguments: [
            ("1.1.1.0/24", true), ("1.1.1.1/32", true), ("0.0.0.0/1", true), ("0.0.0.0/0", true), ("::/0", true),
            ("10.77.0.0/16", true), ("10.77.0.10/32", true), ("2606:4700::/32", true), ("fd77::10/128", true),
            ("fc00::/7", true), ("1.1.2.0/24", false), ("2.0.0.0/8", false), ("128.0.0.0/1", false),
            ("10.78.0.0/16", false), ("10.77.0.11/32", false), ("2606:4700:4700:1::/64", false),
            ("2606:4701::/32", false), ("fd77::11/128", false), ("fd78::/64", false),
        ]
    )
    func measured(route: String, passes: Bool) throws {
        var filter = try interpreter("1.1.1.1", "10.77.0.10", "2606:4700:4700::1111", "fd77::10")
        for kind in [MessageKind.newRoute, .deleteRoute] {
            #expect(try filter.passes(RouteMessage.route(prefix(route), kind: kind)) == passes)
        }
    }

    @Test func `without targets only default routes and what is not a route passes`() throws {
        var filter = try interpreter()
        #expect(try filter.passes(RouteMessage.route(prefix("::/0"))))
        #expect(try !filter.passes(RouteMessage.route(prefix("::/1"))))
        #expect(try !filter.passes(RouteMessage.route(prefix("0.0.0.0/1"))))
        let judged = [RTM_NEWROUTE, RTM_DELROUTE, RTM_NEWNEIGH, RTM_DELNEIGH].map { Int($0) }
        for kind in 0..<200 where !judged.contains(kind) {
            #expect(try filter.passes(RouteMessage.other(UInt16(kind))))
        }
        // The second byte of the kind counts.
        #expect(try filter.passes(RouteMessage.other(UInt16(RTM_NEWROUTE) | 0x100)))
    }

    @Test func `neighbours pass that may be routers IPv6 passes over`() throws {
        var filter = try interpreter("192.0.2.1")
        for message in NeighbourMessage.all {
            #expect(try filter.passes(message.bytes) == message.mayChangeRoutes, "\(message.name)")
            for count in 0..<28 { #expect(try filter.passes(Array(message.bytes.prefix(count)))) }
        }
    }

    @Test func `routes that are not as they should be pass`() throws {
        var filter = try interpreter("192.0.2.1", "2001:db8::1")
        for route in [try prefix("198.51.100.0/24"), try prefix("2001:db8:1::/48")] {
            let whole = RouteMessage.route(route)
            #expect(try !filter.passes(whole))
            #expect(try filter.passes(RouteMessage.route(route, family: 128)))
            #expect(try filter.passes(RouteMessage.route(route, family: 7)))
            #expect(try filter.passes(RouteMessage.route(route, length: 129)))
            #expect(try filter.passes(RouteMessage.route(route, destination: [])))
            #expect(try filter.passes(RouteMessage.route(route, destination: [1, 2, 3])))
            #expect(try filter.passes(RouteMessage.route(route, destination: [UInt8](repeating: 1, count: 17))))
            // The destination ends with its last byte, and without it the attribute is none.
            let end = whole.count - 8
            for count in 0..<end { #expect(try filter.passes(Array(whole.prefix(count)))) }
            #expect(try !filter.passes(Array(whole.prefix(end))))
        }
        // One more than 32 bits of IPv4.
        #expect(try filter.passes(RouteMessage.route(prefix("198.51.100.0/24"), length: 33)))
    }

    @Test(arguments: 0..<40)
    func `random routes and targets agree with the oracle`(seed: Int) throws {
        var random = RandomPrefixes(seed: UInt64(seed))
        let count = Int.random(in: 0...(seed < 30 ? 12 : 200), using: &random.generator)
        let watched = seed % 2 == 0 ? random.hosts(count) : random.prefixes(count)
        let filter = RouteFilter(watching: watched)
        let isExact = filter.isExact
        #expect(isExact)
        var interpreter = try FilterInterpreter(filter.program)
        for _ in 0..<1500 {
            let route = random.route(near: watched)
            let expected = route.length == 0 || watched.contains { $0.overlaps(route) }
            #expect(try interpreter.passes(RouteMessage.route(route)) == expected, "seed \(seed): \(route)")
        }
    }

    /// What is left out is always a route that could have been read, to somewhere else.
    @Test(arguments: 0..<10)
    func `spoiled messages pass unless they tell of elsewhere`(seed: Int) throws {
        var random = RandomPrefixes(seed: UInt64(seed))
        let watched = random.hosts(20)
        var interpreter = try FilterInterpreter(RouteFilter(watching: watched).program)
        let messages = (0..<200).map { _ in RouteMessage.route(random.route(near: watched)) }
        var dropped = 0
        for _ in 0..<2000 {
            guard let message = messages.randomElement(using: &random.generator) else { break }
            let spoiled = random.generator.spoiled(message, with: messages)
            guard try !interpreter.passes(spoiled) else { continue }
            dropped += 1
            var burst = EventBurst()
            spoiled.withUnsafeBytes { burst.note($0) }
            // A neighbour now, of which the burst thinks the same.
            if burst.messages == 0 { continue }
            let prefix = burst.prefixes.list.first
            #expect(prefix.map { prefix in !watched.contains { $0.overlaps(prefix) } } == true, "\(spoiled)")
        }
        #expect(dropped > 0)
    }

    @Test(arguments: [1, 100, 1000, 10_000])
    func `many targets are never missed`(count: Int) throws {
        var random = RandomPrefixes(seed: UInt64(count))
        let watched = random.hosts(count)
        let filter = RouteFilter(watching: watched)
        print("route filter: \(count) targets, \(filter.instructionCount) instructions, exact \(filter.isExact)")
        #expect(filter.instructionCount <= RouteFilter.instructionLimit)
        #expect(filter.isExact == (count <= 100))
        var interpreter = try FilterInterpreter(filter.program)
        var dropped = 0
        for _ in 0..<2000 {
            let route = random.route(near: watched)
            let passes = try interpreter.passes(RouteMessage.route(route))
            if !passes { dropped += 1 }
            // Looked up in steps that grow with the logarithm.
            #expect(interpreter.steps < 200)
            if !passes { #expect(!watched.contains { $0.overlaps(route) }, "\(route)") }
        }
        #expect(dropped > 0)
        for host in watched.prefix(500) { #expect(try interpreter.passes(RouteMessage.route(host))) }
    }

    @Test func `hosts of a family fit by the hundreds`() throws {
        var generator = DecoderMutator(seed: 4)
        let ipv4 = (0..<1300).map { _ in
            AddressPrefix(host: WireAddress(ipv4: .random(in: 0 ... .max, using: &generator)))
        }
        let ipv6 = (0..<350).map { _ in
            AddressPrefix(host: WireAddress(family: .ipv6, bits: .random(in: 0 ... .max, using: &generator)))
        }
        #expect(RouteFilter(watching: ipv4).isExact)
        #expect(RouteFilter(watching: ipv6).isExact)
        #expect(!RouteFilter(watching: ipv4 + ipv6).isExact)
    }

    @Test(arguments: [1, 50, 128, 200, 300, 1000])
    func `any limit is kept`(limit: Int) throws {
        var random = RandomPrefixes(seed: UInt64(limit))
        let watched = random.prefixes(300)
        let filter = RouteFilter(watching: watched, instructionLimit: limit)
        #expect(filter.instructionCount <= limit)
        var interpreter = try FilterInterpreter(filter.program)
        for _ in 0..<500 {
            let route = random.route(near: watched)
            if watched.contains(where: { $0.overlaps(route) }) {
                #expect(try interpreter.passes(RouteMessage.route(route)))
            }
        }
    }

    @Test func `half of a filter is shorter and passes more`() throws {
        var random = RandomPrefixes(seed: 7)
        let watched = random.hosts(400)
        var filter = RouteFilter(watching: watched)
        while let shorter = filter.halved {
            #expect(shorter.instructionCount <= filter.instructionCount / 2)
            #expect(!shorter.isExact)
            filter = shorter
        }
        #expect(filter.instructionCount < 256)
    }

    @Test func `the order of targets does not matter`() {
        var random = RandomPrefixes(seed: 9)
        let watched = random.prefixes(100)
        #expect(RouteFilter(watching: watched) == RouteFilter(watching: watched.reversed() + watched))
    }
}
