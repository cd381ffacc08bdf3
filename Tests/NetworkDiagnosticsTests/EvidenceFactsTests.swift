import Dispatch
import LinuxSupport
import NetworkReachabilityTesting
import Testing

@testable import Netlink
@testable import NetworkDiagnostics
@testable import NetworkReachability

/// The chain of steps for given facts, without a kernel.
@Suite struct EvidenceFactsTests {
    private static let host = Target(.address(IPAddress(WireAddress(ipv4: 0xcb00_7107))))
    private static let reasons: [NetworkPath.UnsatisfiedReason] = [
        .noRoute, .unreachable, .prohibited, .blackholed, .noCarrier, .linkDown, .dormant, .noSourceAddress,
        .noInterface,
        .nameNotResolved, .refused, .resolving, .netlinkUnavailable, .namespaceGone, .init(rawValue: "ofTheFuture"),
    ]

    private static func facts(
        _ reason: NetworkPath.UnsatisfiedReason,
        _ target: Target = host,
        over links: [NetworkEvidence.Link] = []
    ) -> EvidenceFacts {
        var facts = EvidenceFacts(target, NetworkPath(flags: [], reason: reason))
        facts.path.destination = IPAddress("203.0.113.7")
        facts.obstacle = Verdict.Cause.allCases.first { $0.reason == reason }
            .map { Verdict.Obstacle($0, link: links.first?.interface.index) }
        facts.links = links
        return facts
    }

    private static func link(
        _ name: String,
        _ type: InterfaceType,
        _ flags: LinkFlags = [.up, .carrier],
        remote: String? = nil
    ) -> NetworkEvidence.Link {
        var link = Link(index: 2, name: name, flags: flags)
        link.tunnelRemote = remote.flatMap { WireAddress($0) }
        return NetworkEvidence.Link(NetworkInterface(index: 2, name: name, type: type), link)
    }

    @Test(arguments: reasons)
    func `every reason breaks one step, and has a remedy`(reason: NetworkPath.UnsatisfiedReason) throws {
        for target in [
            Self.host, Target(.general([])), Target(.name("a.example", refreshInterval: .zero)),
        ] {
            let evidence = Self.facts(reason, target).evidence
            let broken = try #require(evidence.brokenStep)
            #expect(evidence.path.reason == reason)
            // A name is a step only for a target that is a name.
            let isName = reason == .nameNotResolved || reason == .resolving
            if isName, case .name = target.destination { #expect(broken.kind == .name) }
            if !isName { #expect(broken.kind != .verdict && broken.remedy?.isEmpty == false) }
            #expect(evidence.steps.allSatisfy { !$0.summary.isEmpty })
        }
    }

    @Test(arguments: [
        (InterfaceType.ethernet, "eth0 has no carrier: the cable or the switch port is down"),
        (.wiFi, "eth0 has no carrier: it has not joined a Wi-Fi network"),
        (.wwan, "eth0 has no carrier: the modem is not connected"),
        (.wiredVirtual, "eth0 has no carrier: the other end of the virtual link is down or was removed"),
        (.tunnel, "eth0 has no carrier: the program that serves the tunnel is not running, or not connected"),
    ])
    func `the remedy for a lost carrier depends on the interface type`(type: InterfaceType, remedy: String) {
        #expect(Self.facts(.noCarrier, over: [Self.link("eth0", type, .up)]).evidence.brokenStep?.remedy == remedy)
    }

    @Test(arguments: [
        ("a;id", "'a;id'"), ("it's", #"'it'\''s'"#), ("eth0.7", "eth0.7"), ("a b", "'a b'"), ("ä$", "'ä$'"),
    ])
    func `the name of a link is one shell word of the recommended command`(name: String, word: String) {
        let step = Self.facts(.linkDown, over: [Self.link(name, .ethernet, [])]).evidence.brokenStep
        #expect(step?.remedy == "\(name) is down: set it up with `ip link set \(word) up`")
    }

    @Test func `the remedy names the lowest broken link`() {
        let links = [Self.link("br0", .ethernet, .up), Self.link("eth0", .ethernet, [])]
        let step = Self.facts(.noCarrier, over: links).evidence.brokenStep
        #expect(step?.summary == "br0 (ethernet) up, no carrier, over eth0 (ethernet) down")
        #expect(step?.remedy == "eth0 is down: set it up with `ip link set eth0 up`")
    }

    @Test func `the remedy for dormant Wi-Fi names the keys`() {
        let facts = Self.facts(.dormant, over: [Self.link("wlan0", .wiFi, [.up, .carrier, .dormant])])
        #expect(facts.evidence.brokenStep?.remedy == "wlan0 is dormant: it waits for the keys of its Wi-Fi network")
    }

    @Test func `an unreachable far end breaks the chain at the tunnel`() {
        var facts = Self.facts(.noRoute, over: [Self.link("gre1", .tunnel, remote: "192.0.2.9")])
        facts.obstacle?.isBelow = true
        let step = facts.evidence.brokenStep
        #expect(step?.kind == .link)
        #expect(step?.summary == "gre1 (tunnel) up, carrier; its far end 192.0.2.9: no route")
        #expect(step?.remedy?.contains("`reachability why 192.0.2.9`") == true)
    }

    @Test func `another error of a lookup is quoted`() {
        var facts = Self.facts(.refused)
        facts.refusal = .noMemory
        #expect(facts.evidence.brokenStep?.summary == "the lookup failed: Cannot allocate memory")
    }

    /// A namespace that can no longer be entered.
    private struct GoneKernel: Kernel {
        func connect() throws(NetlinkError) -> any KernelConnection {
            throw NetlinkError("enter the network namespace /run/netns/blue", .noEntry, stage: .namespace)
        }

        func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] { [] }

        func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? { nil }
    }

    @Test func `a deleted namespace breaks the chain at the kernel`() throws {
        let environment = MonitorEnvironment(kernel: GoneKernel(), clock: ManualClock(), resolver: FakeResolver())
        let options = NetworkReachabilityOptions()
        let manager = NetworkReachabilityManager(
            Self.host,
            monitor: PathMonitor(environment: environment),
            options: options
        )
        let evidence = manager.evidence()
        #expect(evidence.path == manager.path)
        #expect(evidence.path.reason == .namespaceGone)
        #expect(evidence.brokenStep?.kind == .kernel)
        #expect(
            evidence.brokenStep?.summary
                == "cannot enter the network namespace /run/netns/blue: No such file or directory"
        )
    }
}

/// The rule that led to an answer.
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

    @Test func `the table of a route identifies the rule`() {
        #expect(Self.priority([], table: 254) == 32766)
        #expect(Self.priority([], table: 253) == 32767)
        #expect(Self.priority([], table: 255, kind: .local) == 0)
        #expect(Self.priority([], table: 77) == nil)
        #expect(Self.walk([]).rule(answering: Route(), nil) == nil)
    }

    @Test func `local addresses belong to the local table, whatever the kernel reports`() {
        #expect(Self.priority([], table: 254, kind: .local) == 0)
        #expect(Self.priority([], table: 254, kind: .broadcast) == 0)
    }

    @Test func `a rule ignores the routes that it suppresses`() {
        let rules = [RoutingRule(priority: 10, table: 254, suppressedLength: 0)]
        #expect(Self.priority(rules, table: 254, prefix: 0) == 32766)
        #expect(Self.priority(rules, table: 254, prefix: 24) == 10)
    }

    @Test func `a VRF rule answers for tables without another rule`() {
        let rules = [RoutingRule(priority: 1000, asksVRF: true)]
        #expect(Self.priority(rules, table: 254) == 32766)
        #expect(Self.priority(rules, table: 10) == 1000)
    }

    @Test func `a jump skips rules, a jump without a target does not`() {
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
    func `a rule matches only packets of its selectors`(rule: RoutingRule, fits: Bool) {
        #expect(Self.walk([rule]).tried.contains(rule) == fits)
    }

    @Test func `a rule with several selectors matches only if all match`() {
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
    func `a rule that rejects packets ends the search`(action: RuleAction, error: SystemError) {
        let walk = Self.walk([RoutingRule(priority: 9, action: action)])
        #expect(walk.rule(refusingWith: error)?.priority == 9)
        #expect(walk.tables == [255])
        #expect(walk.rule(refusingWith: .hostUnreachable) == nil)
        #expect(walk.rule(answering: Route(table: 254), nil) == nil)
        #expect(Self.walk([]).rule(refusingWith: error) == nil)
    }
}
