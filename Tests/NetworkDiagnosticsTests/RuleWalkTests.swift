import LinuxSupport
import Netlink
import Testing

@testable import NetworkDiagnostics
@testable import NetworkReachability

/// By which rule an answer came.
@Suite struct RuleWalkTests {
    private static let standard = [
        RoutingRule(priority: 0, table: 255), RoutingRule(priority: 32766, table: 254),
        RoutingRule(priority: 32767, table: 253),
    ]

    private static func walk(
        _ rules: [RoutingRule],
        source: String? = nil,
        mark: UInt32 = 0,
        boundTo: String? = nil
    ) -> RuleWalk {
        let query = RouteQuery(
            destination: WireAddress(ipv4: 0xcb00_7107),
            source: source.flatMap { WireAddress($0) },
            mark: mark
        )
        return RuleWalk(
            rules: (standard + rules).sorted { $0.priority < $1.priority },
            query: query,
            boundTo: boundTo,
            user: 1000
        )
    }

    private static func priority(
        _ rules: [RoutingRule],
        table: UInt32,
        prefix: UInt8 = 0,
        kind: RouteKind = .unicast
    ) -> UInt32? {
        let entry = Route(kind: kind, table: table, prefixLength: prefix)
        return walk(rules).rule(answering: Route(kind: kind, table: table), entry)?.priority
    }

    @Test func `the table tells the rule`() {
        #expect(Self.priority([], table: 254) == 32766)
        #expect(Self.priority([], table: 253) == 32767)
        #expect(Self.priority([], table: 255, kind: .local) == 0)
        #expect(Self.priority([], table: 77) == nil)
        #expect(Self.walk([]).rule(answering: Route(), nil) == nil)
    }

    @Test func `addresses of this machine are local whatever the table is called`() {
        #expect(Self.priority([], table: 254, kind: .local) == 0)
        #expect(Self.priority([], table: 254, kind: .broadcast) == 0)
    }

    @Test func `a rule passes over what it suppresses`() {
        let rules = [RoutingRule(priority: 10, table: 254, suppressedLength: 0)]
        #expect(Self.priority(rules, table: 254, prefix: 0) == 32766)
        #expect(Self.priority(rules, table: 254, prefix: 24) == 10)
    }

    @Test func `a VRF answers for tables nobody else names`() {
        let rules = [RoutingRule(priority: 1000, asksVRF: true)]
        #expect(Self.priority(rules, table: 254) == 32766)
        #expect(Self.priority(rules, table: 10) == 1000)
    }

    @Test func `a jump leaves rules out, and one to nowhere does not`() {
        #expect(Self.walk([RoutingRule(priority: 5, action: .goto, target: 32767)]).tables == [255, 253])
        #expect(Self.walk([RoutingRule(priority: 5, action: .goto, target: 9)]).tables == [255, 254, 253])
        #expect(Self.walk([RoutingRule(priority: 5, action: .nothing)]).tables == [255, 254, 253])
    }

    @Test(arguments: [
        (RoutingRule(priority: 9), true), (RoutingRule(priority: 9, mark: 7, markMask: .max), false),
        (RoutingRule(priority: 9, mark: 0, markMask: 0xff), true),
        (RoutingRule(priority: 9, mark: 7, markMask: .max, isInverted: true), true),
        (RoutingRule(priority: 9, inputInterface: "lo"), true),
        (RoutingRule(priority: 9, inputInterface: "eth0"), false),
        (RoutingRule(priority: 9, outputInterface: "eth0"), false),
        (RoutingRule(priority: 9, source: AddressPrefix(WireAddress(ipv4: 0), length: 0)), false),
        (RoutingRule(priority: 9, destination: AddressPrefix(WireAddress(ipv4: 0xcb00_7100), length: 24)), true),
        (RoutingRule(priority: 9, destination: AddressPrefix(WireAddress(ipv4: 0xcb00_7200), length: 24)), false),
        (RoutingRule(priority: 9, users: 0...0), false), (RoutingRule(priority: 9, users: 1000...1000), true),
        (RoutingRule(priority: 9, hasOtherSelectors: true), false),
    ])
    func `who is meant`(rule: RoutingRule, fits: Bool) {
        #expect(Self.walk([rule]).tried.contains(rule) == fits)
    }

    @Test func `a packet with everything`() {
        let rule = RoutingRule(
            priority: 9,
            source: AddressPrefix(WireAddress(ipv4: 0x0a01_0000), length: 16),
            mark: 0x10,
            markMask: 0xf0,
            outputInterface: "eth0"
        )
        #expect(Self.walk([rule], source: "10.1.0.2", mark: 0x1f, boundTo: "eth0").tried.contains(rule))
        #expect(!Self.walk([rule], source: "10.2.0.2", mark: 0x1f, boundTo: "eth0").tried.contains(rule))
        #expect(!Self.walk([rule], source: "10.1.0.2", mark: 0x2f, boundTo: "eth0").tried.contains(rule))
        #expect(!Self.walk([rule], source: "10.1.0.2", mark: 0x1f, boundTo: "eth1").tried.contains(rule))
    }

    @Test(arguments: [
        (RuleAction.prohibit, SystemError.accessDenied), (.blackhole, .invalidArgument),
        (.unreachable, .networkUnreachable),
    ])
    func `a rule that refuses ends the search`(action: RuleAction, error: SystemError) {
        let walk = Self.walk([RoutingRule(priority: 9, action: action)])
        #expect(walk.rule(refusingWith: error)?.priority == 9)
        #expect(walk.tables == [255])
        #expect(walk.rule(refusingWith: .hostUnreachable) == nil)
        #expect(walk.rule(answering: Route(table: 254), nil) == nil)
        #expect(Self.walk([]).rule(refusingWith: error) == nil)
    }
}
