import Dispatch
import NetworkLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkDiagnostics
@testable import NetworkReachability

/// The path before a change, after it and after its reversal, with a fake kernel and a real one.
@Suite struct PathTests {
    @Test(arguments: WorldKind.allCases, PathCase.all)
    func `the path follows each change and its reversal`(kind: WorldKind, play: PathCase) async throws {
        try await kind.play { world, checks in try PathRun(play, in: world, checks).run() }
    }

    @Test func `case names are unique`() {
        #expect(Set(PathCase.all.map(\.name)).count == PathCase.all.count)
    }
}

/// Paths of sockets that are bound to an address of this machine.
@Suite struct BoundSourceTests {
    @Test(arguments: WorldKind.allCases)
    func `rules on the source address select the path of a bound socket`(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(
                Change.ipv4Uplink + [
                    .add("w0", .rawIP), .address("10.60.0.2/24", on: "w0"),
                    .addRule(RuleChange(from: "10.60.0.2", .lookUp(100))),
                    .route(RouteChange("0.0.0.0/0", on: "w0", table: 100)),
                ]
            )
            func path(from source: String?) throws -> NetworkPath {
                var options = NetworkReachabilityOptions()
                options.sourceAddress = source.flatMap { IPAddress($0) }
                return try world.manager(of: "203.0.113.7", options: options).path
            }
            checks.expect(try path(from: nil).interface?.name, is: "c0")
            let bound = try path(from: "10.60.0.2")
            checks.expect(bound.interface?.name, is: "w0")
            checks.expect(bound.source, is: IPAddress("10.60.0.2"))
            checks.expect(try path(from: "10.60.0.9").reason, is: .noSourceAddress)
            try world.apply(.remove("w0"))
            checks.expect(try path(from: "10.60.0.2").reason, is: .noSourceAddress)
        }
    }
}

/// Runs a case in a world. The results of queries and listener calls must equal those of the case.
struct PathRun {
    private let play: PathCase
    private let world: any World
    private let checks: Checks
    private let manager: NetworkReachabilityManager
    private let queue = DispatchQueue(label: "PathRun")
    private let heardPaths = RecordingListener<NetworkPath>()
    private let heardFlags = RecordingListener<NetworkPath>()
    private let heardStatuses = RecordingListener<NetworkReachabilityStatus>()
    private let tokens: [NetworkReachabilityToken]

    init(_ play: PathCase, in world: any World, _ checks: Checks) throws {
        self.play = play
        self.checks = checks
        self.world = world
        try world.apply(play.setup)
        var options = NetworkReachabilityOptions()
        options.firewallMark = play.mark
        manager = try world.manager(of: play.host, options: options)
        tokens = [
            manager.addPathListener(for: .path, onQueue: queue, heardPaths.record),
            manager.addPathListener(for: .flags, onQueue: queue, heardFlags.record),
        ]
        manager.startListening(onQueue: queue, onUpdatePerforming: heardStatuses.record)
    }

    func run() throws {
        expect(play.before, "before")
        try world.apply(play.change)
        expect(play.after, "after")
        try world.apply(play.undo)
        expect(play.before, "back")
        world.settle()
        queue.sync {}
        expectOrder()
        withExtendedLifetime(tokens) {}
    }

    private func expect(_ text: String, _ phase: String) {
        let expected = PathLine(text)
        let mustWait = play.takesTime && !(world is FakeWorld)
        let deadline = Deadline(after: .seconds(mustWait ? 15 : 0))
        let isAsked = deadline.poll { PathLine(manager.path).matches(expected) }
        let isExplained = deadline.poll { PathLine(manager.evidence().path).matches(expected) }
        checks.expect(isExplained, "\(phase): explained \(PathLine(manager.evidence().path)), not \(text)")
        EvidenceTests.expectSound(manager.evidence(), checks)
        let path = manager.path
        checks.expect(isAsked, "\(phase): asked \(PathLine(path)), not \(text)")
        checks.expect(path.status, is: NetworkReachabilityStatus(path.flags))
        checks.expect(path.isExpensive, is: text.hasPrefix("W"))
        let isHeard = Deadline(after: .seconds(15)).poll(every: .milliseconds(2)) {
            world.settle()
            return heardPaths.last.map { PathLine($0).matches(expected) } ?? false
                && heardStatuses.last == path.status && heardFlags.last?.flags == path.flags
        }
        checks.expect(isHeard, "\(phase): received \(heardPaths.values.map { PathLine($0) }), not \(text)")
    }

    /// Checks that each call was a change, that no change is missing, and that the order is correct.
    private func expectOrder() {
        let paths = heardPaths.values
        for (path, next) in zip(paths, paths.dropFirst()) {
            checks.expect(path.generation < next.generation, "a generation that does not grow: \(next.generation)")
            checks.expect(!path.isSame(as: next), "reported twice: \(next)")
        }
        let flags = heardFlags.values.map { PathLine($0).flags }
        checks.expect(zip(flags, flags.dropFirst()).allSatisfy { $0 != $1 }, "flags twice: \(flags)")
        var statuses: [NetworkReachabilityStatus] = []
        for status in heardFlags.values.map(\.status) where statuses.last != status { statuses.append(status) }
        checks.expect(heardStatuses.values, is: statuses)
        guard !play.mayPass else { return }
        let expected = [play.before, play.after, play.before].map { PathLine($0).flags }
        let changes = expected.enumerated().filter { $0.offset == 0 || expected[$0.offset - 1] != $0.element }
        checks.expect(flags, is: changes.map(\.element))
    }
}

/// A change of a network and its reversal, with the path before, after and back again.
struct PathCase: Sendable, CustomTestStringConvertible {
    let name: String
    /// The target; nil for the network at large.
    var host: String?
    var mark: UInt32 = 0
    var setup = Change.uplink
    let change: [Change]
    let undo: [Change]
    let before: String
    let after: String
    /// Whether a real kernel applies the change with a delay.
    var takesTime = false
    /// Whether the network has intermediate states during the change.
    var mayPass = false

    var testDescription: String { name }

    static let all = [
        links, addresses, devices, defaults, refusals, rules, nextHops, hops, stacked, modems, ownAddresses, lifetimes,
        neighbours,
    ].flatMap(\.self)

    /// The network at large through `c0`.
    static let throughFirst = "-R ------- c0 via 10.1.0.1 from 10.1.0.2 table 254 mtu 1500 for 46"
    /// The same through `c1`.
    static let throughSecond = "-R ------- c1 via 10.2.0.1 from 10.2.0.2 table 254 mtu 1500 for 46"
    /// An IPv4 host through `c0`.
    static let hostThroughFirst = "-R ------- c0 via 10.1.0.1 from 10.1.0.2 table 254 mtu 1500 for 4"
    static let hostThroughSecond = "-R ------- c1 via 10.2.0.1 from 10.2.0.2 table 254 mtu 1500 for 4"
    /// An IPv6 host through `c0`.
    static let host6ThroughFirst = "-R ------- c0 via fd01::1 from fd01::2 table 254 mtu 1500 for 6"
    static let noRoute = "-- ------- noRoute"

    /// Sets the first uplink up again after it was set down.
    static let upAgain: [Change] =
        [.up("c0"), .address("fd01::2/64", on: "c0")] + Change.defaults(Change.addRoute)
}

/// The compared properties of a path in one line, which is the same in every world. For example `-R ------- c0 via
/// 10.1.0.1 from 10.1.0.2 table 254 mtu 1500 for 46`, or `-- ------- noCarrier c0`.
struct PathLine: Hashable, CustomStringConvertible {
    let description: String

    init(_ path: NetworkPath) {
        var words = [path.flags?.readableDescription ?? "unknown"]
        if let reason = path.reason { words.append(reason.rawValue) }
        if let interface = path.interface { words.append(interface.description) }
        if let gateway = path.gateway { words.append("via \(gateway)") }
        if let source = path.source { words.append("from \(source)") }
        if let table = path.table { words.append("table \(table)") }
        if let mtu = path.mtu { words.append("mtu \(mtu)") }
        let families = (path.supportsIPv4 ? "4" : "") + (path.supportsIPv6 ? "6" : "")
        if !families.isEmpty { words.append("for \(families)") }
        description = words.joined(separator: " ")
    }

    /// - Parameter text: The expected line. If it ends in `*`, only the text before is compared.
    init(_ text: String) {
        description = text
    }

    /// The flags alone.
    var flags: String { description.split(separator: " ").prefix(2).joined(separator: " ") }

    func matches(_ expected: PathLine) -> Bool {
        guard expected.description.hasSuffix("*") else { return self == expected }
        return description.hasPrefix(expected.description.dropLast())
    }
}
