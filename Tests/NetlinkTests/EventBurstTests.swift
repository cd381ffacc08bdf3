import CLinux
import NetworkLab
import Testing

@testable import LinuxSupport
@testable import Netlink

/// The information of a burst about the changed routes.
@Suite struct EventBurstTests {
    private func burst(_ messages: [[UInt8]]) -> EventBurst {
        var burst = EventBurst()
        for message in messages { message.withUnsafeBytes { burst.note($0) } }
        return burst
    }

    private func prefix(_ text: String, _ length: Int) throws -> AddressPrefix {
        AddressPrefix(try #require(WireAddress(text)), length: length)
    }

    @Test func `the destinations of routes are collected`() throws {
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

    @Test func `neighbours count if they may be routers that IPv6 skips`() throws {
        for message in NeighbourMessage.all {
            let burst = burst([message.bytes])
            #expect(burst.isRelevant == message.mayChangeRoutes, "\(message.name)")
            #expect(burst.prefixes == (message.mayChangeRoutes ? [try prefix("::", 0)] : .none), "\(message.name)")
            #expect(burst.subjects == (message.mayChangeRoutes ? .neighbour : []), "\(message.name)")
            #expect(burst.isOnlyRoutes == message.mayChangeRoutes, "\(message.name)")
        }
    }

    @Test func `a truncated neighbour message counts`() {
        let whole = NeighbourMessage.neighbour(WireAddress(ipv4: 1), .delay)
        for count in 16..<whole.count {
            #expect(burst([Array(whole.prefix(count))]).isRelevant == (count < 28), "\(count) bytes")
        }
    }

    @Test func `other messages have no destination`() throws {
        let burst = burst([RouteMessage.other(UInt16(RTM_NEWLINK)), RouteMessage.other(UInt16(RTM_NEWRULE)), [1]])
        #expect(burst.prefixes.isEmpty)
        #expect(burst.messages == 3)
    }

    @Test func `default routes affect every destination`() throws {
        for route in [try prefix("0.0.0.0", 0), try prefix("::", 0)] {
            let burst = burst([RouteMessage.route(try prefix("192.0.2.0", 24)), RouteMessage.route(route)])
            #expect(burst.prefixes == .everything)
            #expect(burst.subjects.contains(.defaultRoute))
        }
    }

    @Test func `messages that cannot be decoded affect every destination`() throws {
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

    @Test func `too many destinations count as every destination`() {
        let messages = (0..<100).map { RouteMessage.route(AddressPrefix(WireAddress(ipv4: $0 << 8), length: 24)) }
        #expect(burst(Array(messages.prefix(ChangedPrefixes.limit))).prefixes.list.count == ChangedPrefixes.limit)
        #expect(burst(messages).prefixes == .everything)
        #expect(burst(messages + messages).prefixes == .everything)
    }

    @Test func `bursts can be added`() throws {
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

    /// Returns the message with the port of a process in its header.
    private func asked(from port: UInt32, _ message: [UInt8]) -> [UInt8] {
        message[..<12] + withUnsafeBytes(of: port) { Array($0) } + message[16...]
    }

    @Test func `the process that removed a route is reported if no other made changes`() throws {
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

    @Test func `a burst about routes without destinations affects every destination`() {
        #expect(EventBurst(messages: 1, subjects: [.route, .addition]).prefixes == .everything)
        #expect(EventBurst(messages: 1, subjects: .link).prefixes == .none)
        #expect(EventBurst(foreign: 1).prefixes == .none)
    }
}

/// Messages about neighbours, as the kernel sends them.
enum NeighbourMessage {
    static func neighbour(
        _ address: WireAddress,
        _ state: NeighbourState,
        isRouter: Bool = false,
        kind: MessageKind = .newNeighbour
    ) -> [UInt8] {
        var builder = RequestBuilder()
        builder.begin(kind, sequence: 0)
        var head = ndmsg()
        head.ndm_family = address.family.rawValue
        head.ndm_ifindex = 2
        head.ndm_state = state.rawValue
        head.ndm_flags = isRouter ? UInt8(NTF_ROUTER) : 0
        builder.append(head)
        builder.append(attribute: Int(NDA_DST), address.bytes)
        return builder.bytes
    }

    /// Each kind of message with each state, and whether it may change a route.
    static let all: [(bytes: [UInt8], mayChangeRoutes: Bool, name: String)] = {
        let states: [NeighbourState] = [
            .none, .incomplete, .reachable, .stale, .delay, .probe, .failed, .noARP, .permanent,
        ]
        var messages: [(bytes: [UInt8], mayChangeRoutes: Bool, name: String)] = []
        for address in [WireAddress(ipv4: 0x0a01_0001), WireAddress(family: .ipv6, bits: 0xfd01 << 112 | 1)] {
            for state in states {
                for isRouter in [false, true] {
                    for kind in [MessageKind.newNeighbour, .deleteNeighbour] {
                        let answers = isRouter && (state == .reachable || state == .stale)
                        messages.append(
                            (
                                neighbour(address, state, isRouter: isRouter, kind: kind),
                                address.family == .ipv6 && (state == .failed || answers),
                                "\(address) \(state) \(isRouter) \(kind)"
                            )
                        )
                    }
                }
            }
        }
        return messages
    }()
}

/// Messages about routes, correct and malformed.
enum RouteMessage {
    /// Returns an RTM_NEWROUTE or RTM_DELROUTE message. IPv4 messages contain the table before the destination.
    static func route(
        _ prefix: AddressPrefix,
        kind: MessageKind = .newRoute,
        family: UInt8? = nil,
        length: UInt8? = nil,
        destination: [UInt8]? = nil
    ) -> [UInt8] {
        var builder = RequestBuilder()
        builder.begin(kind, sequence: 0)
        var head = rtmsg()
        head.rtm_family = family ?? prefix.family.rawValue
        head.rtm_dst_len = length ?? UInt8(prefix.length)
        builder.append(head)
        if prefix.family == .ipv4 { builder.append(attribute: Int(RTA_TABLE.rawValue), UInt32(254)) }
        let destination = destination ?? (prefix.length == 0 ? nil : prefix.address.bytes)
        if let destination { builder.append(attribute: Int(RTA_DST.rawValue), destination) }
        builder.append(attribute: Int(RTA_OIF.rawValue), UInt32(2))
        return builder.bytes
    }

    /// Returns another kind of message with the body of a route.
    static func other(_ kind: UInt16) -> [UInt8] {
        route(AddressPrefix(WireAddress(ipv4: 0), length: 8), kind: MessageKind(rawValue: kind))
    }
}

/// Groups that the kernel rejects, as an older kernel rejects the groups that it lacks.
@Suite struct MulticastGroupTests {
    /// A group number that no kernel uses yet (RTNLGRP_MAX is 36 in Linux 6.1).
    private static func unknown(_ name: String) -> MulticastGroup { MulticastGroup(rawValue: 2000, name: name) }

    @Test func `a missing optional group is reported, and the others are joined`() throws {
        let namespace = try LabNamespace()
        defer { namespace.close() }
        let events = try namespace.perform { try EventSocket() }
        let groups = [Self.unknown("NEXTHOP")] + MulticastGroup.reachability
        #expect(try events.join(groups) == [Self.unknown("NEXTHOP")])
        try namespace.ip("link set lo up")
        #expect(events.drain().messages > 0)
    }

    @Test func `this kernel has all groups`() throws {
        let namespace = try LabNamespace()
        defer { namespace.close() }
        #expect(try namespace.perform { try EventSocket() }.join().isEmpty)
    }

    @Test func `a missing required group is an error`() throws {
        let namespace = try LabNamespace()
        defer { namespace.close() }
        let events = try namespace.perform { try EventSocket() }
        #expect(throws: NetlinkError("join netlink group 2000", .invalidArgument)) {
            try events.join([Self.unknown("LINK")])
        }
    }
}
