import Dispatch
import LinuxSupport
import Netlink
import NetworkReachabilityTesting
import Testing

@testable import NetworkDiagnostics
@testable import NetworkReachability

/// What the chain says of facts, without a kernel.
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
            Self.host, Target(.atLarge([])), Target(.name("a.example", refreshInterval: .zero)),
        ] {
            let evidence = Self.facts(reason, target).evidence
            let broken = try #require(evidence.brokenStep)
            #expect(evidence.path.reason == reason)
            // A name is a step only of a target that is one.
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
        (.wiredVirtual, "eth0 has no carrier: the other end of the virtual cable is down or gone"),
        (.tunnel, "eth0 has no carrier: the program that serves the tunnel is not running, or not connected"),
    ])
    func `a carrier is mended where it is lost`(type: InterfaceType, remedy: String) {
        #expect(Self.facts(.noCarrier, over: [Self.link("eth0", type, .up)]).evidence.brokenStep?.remedy == remedy)
    }

    @Test(arguments: [
        ("a;id", "'a;id'"), ("it's", #"'it'\''s'"#), ("eth0.7", "eth0.7"), ("a b", "'a b'"), ("ä$", "'ä$'"),
    ])
    func `the name of a link is one word of the command that is advised`(name: String, word: String) {
        let step = Self.facts(.linkDown, over: [Self.link(name, .ethernet, [])]).evidence.brokenStep
        #expect(step?.remedy == "\(name) is down: set it up with `ip link set \(word) up`")
    }

    @Test func `the lowest link that stands in the way is named`() {
        let links = [Self.link("br0", .ethernet, .up), Self.link("eth0", .ethernet, [])]
        let step = Self.facts(.noCarrier, over: links).evidence.brokenStep
        #expect(step?.summary == "br0 (ethernet) up, no carrier, over eth0 (ethernet) down")
        #expect(step?.remedy == "eth0 is down: set it up with `ip link set eth0 up`")
    }

    @Test func `Wi-Fi waits for its keys`() {
        let facts = Self.facts(.dormant, over: [Self.link("wlan0", .wiFi, [.up, .carrier, .dormant])])
        #expect(facts.evidence.brokenStep?.remedy == "wlan0 is dormant: it waits for the keys of its Wi-Fi network")
    }

    @Test func `a tunnel whose far end cannot be reached breaks at the tunnel`() {
        var facts = Self.facts(.noRoute, over: [Self.link("gre1", .tunnel, remote: "192.0.2.9")])
        facts.obstacle?.isBelow = true
        let step = facts.evidence.brokenStep
        #expect(step?.kind == .link)
        #expect(step?.summary == "gre1 (tunnel) up, carrier; its far end 192.0.2.9: no route")
        #expect(step?.remedy?.contains("`reachability why 192.0.2.9`") == true)
    }

    @Test func `a lookup that fails for another reason is quoted`() {
        var facts = Self.facts(.refused)
        facts.refusal = .noMemory
        #expect(facts.evidence.brokenStep?.summary == "the lookup was refused: Cannot allocate memory")
    }

    /// A namespace that cannot be entered any more.
    private struct GoneKernel: Kernel {
        func connect() throws(NetlinkError) -> any KernelConnection {
            throw NetlinkError("enter the network namespace /run/netns/blue", .noEntry, stage: .namespace)
        }

        func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] { [] }

        func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? { nil }
    }

    @Test func `a namespace that is gone`() throws {
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
