import CLinux
import Testing

@testable import LinuxSupport
@testable import Netlink

/// What a burst tells of the routes it heard of.
@Suite struct EventBurstTests {
    private func burst(_ messages: [[UInt8]]) -> EventBurst {
        var burst = EventBurst()
        for message in messages { message.withUnsafeBytes { burst.note($0) } }
        return burst
    }

    private func prefix(_ text: String, _ length: Int) throws -> AddressPrefix {
        AddressPrefix(try #require(WireAddress(text)), length: length)
    }

    @Test func `prefixes are told apart`() throws {
        let ipv4 = try prefix("192.0.2.0", 24)
        let ipv6 = try prefix("2001:db8::", 32)
        let burst = burst([
            RouteMessage.route(ipv4), RouteMessage.route(ipv6, kind: .deleteRoute), RouteMessage.route(ipv4),
        ])
        #expect(burst.prefixes == [ipv4, ipv6])
        #expect(burst.subjects == [.route, .addition, .removal])
        #expect(burst.prefixes.mayConcern(try #require(WireAddress("192.0.2.9"))))
        #expect(!burst.prefixes.mayConcern(try #require(WireAddress("192.0.3.9"))))
    }

    @Test func `neighbours count that may be routers IPv6 passes over`() throws {
        for message in NeighbourMessage.all {
            let burst = burst([message.bytes])
            #expect(burst.isRelevant == message.mayChangeRoutes, "\(message.name)")
            #expect(burst.prefixes == (message.mayChangeRoutes ? [try prefix("::", 0)] : .none), "\(message.name)")
            #expect(burst.subjects == (message.mayChangeRoutes ? .neighbour : []), "\(message.name)")
            #expect(burst.isOnlyRoutes == message.mayChangeRoutes, "\(message.name)")
        }
    }

    @Test func `a neighbour cut off counts`() {
        let whole = NeighbourMessage.neighbour(WireAddress(ipv4: 1), .delay)
        for count in 16..<whole.count {
            #expect(burst([Array(whole.prefix(count))]).isRelevant == (count < 28), "\(count) bytes")
        }
    }

    @Test func `other messages are about no prefix`() throws {
        let burst = burst([RouteMessage.other(UInt16(RTM_NEWLINK)), RouteMessage.other(UInt16(RTM_NEWRULE)), [1]])
        #expect(burst.prefixes.isEmpty)
        #expect(burst.messages == 3)
    }

    @Test func `default routes are about everything`() throws {
        for route in [try prefix("0.0.0.0", 0), try prefix("::", 0)] {
            let burst = burst([RouteMessage.route(try prefix("192.0.2.0", 24)), RouteMessage.route(route)])
            #expect(burst.prefixes == .everything)
            #expect(burst.subjects.contains(.defaultRoute))
        }
    }

    @Test func `what cannot be read is about everything`() throws {
        for route in [try prefix("192.0.2.0", 24), try prefix("2001:db8::", 32)] {
            let whole = RouteMessage.route(route)
            // The last attribute is not the destination.
            let end = whole.count - 8
            for count in 6..<whole.count {
                let expected: ChangedPrefixes = count < 16 ? .none : count < end ? .everything : [route]
                #expect(burst([Array(whole.prefix(count))]).prefixes == expected, "\(count) bytes")
            }
            #expect(burst([RouteMessage.route(route, family: 128)]).prefixes == .everything)
            #expect(burst([RouteMessage.route(route, length: 129)]).prefixes == .everything)
            #expect(burst([RouteMessage.route(route, destination: [1, 2])]).prefixes == .everything)
        }
    }

    @Test func `many are everything`() {
        let messages = (0..<100).map { RouteMessage.route(AddressPrefix(WireAddress(ipv4: $0 << 8), length: 24)) }
        #expect(burst(Array(messages.prefix(ChangedPrefixes.limit))).prefixes.list.count == ChangedPrefixes.limit)
        #expect(burst(messages).prefixes == .everything)
        #expect(burst(messages + messages).prefixes == .everything)
    }

    @Test func `bursts add up`() throws {
        let (one, other) = (try prefix("192.0.2.0", 24), try prefix("2001:db8::", 32))
        var sum = burst([RouteMessage.route(one)])
        sum.add(EventBurst(messages: 1, subjects: .link))
        #expect(sum.prefixes == [one])
        sum.add(burst([RouteMessage.route(other), RouteMessage.route(one)]))
        #expect(sum.prefixes == [one, other])
        sum.add(EventBurst(overruns: 1))
        #expect(sum.prefixes == .everything)
        sum.add(burst([RouteMessage.route(one)]))
        #expect(sum.prefixes == .everything)
    }

    /// The message with the port of a process in its head.
    private func asked(from port: UInt32, _ message: [UInt8]) -> [UInt8] {
        message[..<12] + withUnsafeBytes(of: port) { Array($0) } + message[16...]
    }

    @Test func `who took a route away is told where nobody else did anything`() throws {
        let route = try prefix("0.0.0.0", 0)
        let (added, deleted) = (RouteMessage.route(route), RouteMessage.route(route, kind: .deleteRoute))
        let link = RouteMessage.other(UInt16(RTM_NEWLINK))
        let one = asked(from: 812, deleted)
        #expect(burst([one]).remover == 812)
        #expect(burst([one, one, deleted, asked(from: 812, added), added]).remover == 812)
        for messages in [
            [], [deleted], [asked(from: 812, added)], [one, asked(from: 9, deleted)], [asked(from: 9, added), one],
            [one, link], [asked(from: 812, link)], [one, [1]],
        ] { #expect(burst(messages).remover == nil) }
        var sum = burst([one])
        sum.add(burst([deleted]))
        #expect(sum.remover == 812)
        sum.add(EventBurst(overruns: 1))
        #expect(sum.remover == nil)
        sum = burst([one])
        sum.add(burst([asked(from: 9, deleted)]))
        #expect(sum.remover == nil)
    }

    @Test func `what is made by hand is careful`() {
        #expect(EventBurst(messages: 1, subjects: [.route, .addition]).prefixes == .everything)
        #expect(EventBurst(messages: 1, subjects: .link).prefixes == .none)
        #expect(EventBurst(foreign: 1).prefixes == .none)
    }
}
