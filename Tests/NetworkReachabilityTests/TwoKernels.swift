import Dispatch
import KernelLab
import LinuxSupport
import Netlink
import NetworkLab
import NetworkReachability
import NetworkReachabilityTesting

/// The same network in the fake kernel and in the real one, in separate namespaces. For one thread.
///
///     client c0, c1 (veth, up, with carrier, no addresses) - r0, r1 router
final class TwoKernels {
    let fake = FakeKernel()
    private let client: LabNamespace
    private let router: LabNamespace
    private let real: RouteSockets
    private let connection: any KernelConnection
    private let received = RecordingListener<EventBurst>()
    private let queue = DispatchQueue(label: "TwoKernels")
    private let neighbours = [("c0", "10.1.0.1"), ("c0", "10.1.0.9"), ("c0", "fd01::1"), ("c1", "10.2.0.1")]

    init() throws {
        client = try LabNamespace()
        router = try LabNamespace()
        for namespace in [client, router] {
            for scope in ["default", "all"] { try namespace.sysctl("net.ipv6.conf.\(scope).accept_dad", "0") }
        }
        try client.ip(["link set lo up"])
        for (index, name) in ["c0", "c1"].enumerated() {
            // The fake kernel gives its links these addresses. IPv6 derives other addresses from them.
            let address = "02:00:00:00:00:0\(index + 2)"
            try client.ip([
                "link add \(name) address \(address) type veth peer name r\(index) netns \(router.path)",
                "link set \(name) up",
            ])
            try router.ip(["link set r\(index) up"])
            fake.addLink(name, kind: .veth)
        }
        real = try client.perform { try RouteSockets() }
        _ = try real.events.join()
        connection = try fake.connect()
        _ = try connection.listen(on: queue) { [received] in received.record($0) }
    }

    /// Applies a command to both kernels: `ip` commands, `cable r0 up`, `ignore ipv4 1`, and the commands of
    /// `runSpecial`.
    func run(_ command: String) throws {
        let words = command.split(separator: " ").map(String.init)
        switch words[0] {
        case "cable":
            try router.ip(["link set \(words[1]) \(words[2])"])
            fake.setCarrier("c" + words[1].dropFirst(), words[2] == "up")
        case "ignore":
            try client.sysctl("net.\(words[1]).conf.all.ignore_routes_with_linkdown", words[2])
            fake.ignoreRoutesWithLinkdown(words[1] == "ipv4" ? .ipv4 : .ipv6, words[2] == "1")
        case "macvlan", "bridge", "port", "dormant", "tentative", "detected", "deprecated":
            try runSpecial(words)
        case "addr" where words[1] == "add" && words[2].contains(":"):
            try client.ip([command + " nodad"])
            fake.run(command)
        default:
            try client.ip([command])
            fake.run(command)
        }
    }

    /// Runs a command that needs several `ip` commands, or that only advances the time.
    private func runSpecial(_ words: [String]) throws {
        switch words[0] {
        case "macvlan":
            try client.ip(["link add link c0 name \(words[1]) address 02:00:00:00:00:04 type macvlan mode bridge"])
            fake.addLink(words[1], kind: .macvlan, isUp: false, over: "c0")
        case "bridge":
            try client.ip(["link add \(words[1]) address 02:00:00:00:00:04 type bridge"])
            fake.addLink(words[1], kind: .bridge, isUp: false)
        case "port":
            try client.ip(["link set \(words[1]) master \(words[2])"])
            fake.setController(words[1], words[2])
        case "dormant":
            try client.ip(["link set c0 mode dormant"])
            // The mode takes effect when the carrier arrives.
            try router.ip(["link set r0 down"])
            LabThread.pause(.milliseconds(1200))
            try router.ip(["link set r0 up"])
            fake.setDormant("c0")
        case "tentative":
            try client.sysctl("net.ipv6.conf.\(words[2]).accept_dad", "1")
            try client.ip(["addr add \(words[1]) dev \(words[2])"])
            fake.addAddress(words[1], to: words[2], tentative: true)
        case "detected":
            fake.finishDetection(of: words[1], on: words[2])
        default:
            try client.ip(["addr change \(words[1]) dev \(words[2]) preferred_lft 0 valid_lft forever"])
            fake.setDeprecated(words[1], on: words[2])
        }
    }

    /// Applies a command to both kernels unless the real one rejects it. Returns true if it was applied.
    func runIfPossible(_ command: String) throws -> Bool {
        if command.hasPrefix("cable") || command.hasPrefix("ignore") {
            try run(command)
            return true
        }
        let isAddress = command.hasPrefix("addr add") && command.contains(":")
        do {
            try client.ip([isAddress ? command + " nodad" : command])
        } catch {
            return false
        }
        fake.run(command)
        return true
    }

    /// Returns the differences of the two kernels as text; empty if they agree. Waits for the real kernel's carrier
    /// events.
    func differences(_ queries: [RouteQuery]) throws -> [String] {
        let deadline = Deadline(after: .seconds(30))
        while true {
            let differences =
                try linkDifferences() + inventoryDifferences() + routeDifferences(queries) + evidenceDifferences()
            if differences.isEmpty || deadline.hasPassed { return differences }
            LabThread.pause(.milliseconds(25))
        }
    }

    /// Returns the events since the last call, of the real and of the fake kernel.
    func hints() -> (real: EventBurst, fake: EventBurst) {
        queue.sync {}
        let fake = received.values.reduce(into: EventBurst()) { $0.add($1) }
        received.removeAll()
        return (real.events.drain(), fake)
    }

    private func linkDifferences() throws -> [String] {
        let one = try real.answer(to: .links).links.sorted { $0.name < $1.name }.map(Self.text)
        let other = try connection.answer(to: .links).links.sorted { $0.name < $1.name }.map(Self.text)
        return one == other ? [] : ["links: real \(one), fake \(other)"]
    }

    /// Properties that are only used for explanations: rules, and the neighbours of the scenarios.
    private func evidenceDifferences() throws -> [String] {
        var differences: [String] = []
        for family in AddressFamily.allCases {
            let (one, other) = (
                try real.answer(to: .rules(family)).rules, try connection.answer(to: .rules(family)).rules
            )
            if one != other { differences.append("rules: real \(one), fake \(other)") }
        }
        let names = Dictionary(uniqueKeysWithValues: try real.answer(to: .links).links.map { ($0.name, $0.index) })
        for (name, address) in neighbours {
            guard let wire = WireAddress(address) else { continue }
            // A link that was removed has no neighbours to query.
            let one = try names[name].flatMap { try real.answer(to: .neighbour(wire, link: $0)).neighbour?.state }
            let other = try fake.index(of: name).flatMap {
                try connection.answer(to: .neighbour(wire, link: $0)).neighbour?.state
            }
            if one != other {
                differences.append("neighbour \(address) on \(name): real \(one as Any), fake \(other as Any)")
            }
        }
        return differences
    }

    /// Addresses and default routes, as `reachability list` prints them.
    private func inventoryDifferences() throws -> [String] {
        let realNames = Dictionary(try real.answer(to: .links).links.map { ($0.index, $0.name) }) { $1 }
        let fakeNames = Dictionary(try connection.answer(to: .links).links.map { ($0.index, $0.name) }) { $1 }
        var differences: [String] = []
        let one = try real.answer(to: .addresses).addresses.map { Self.text($0, realNames) }.sorted()
        let other = try connection.answer(to: .addresses).addresses.map { Self.text($0, fakeNames) }.sorted()
        if one != other { differences.append("addresses: real \(one), fake \(other)") }
        let (realRoutes, fakeRoutes) = (try client.perform { try DefaultRouteDump.query() }, try fake.defaultRoutes())
        let (ours, theirs) = (realRoutes.map { Self.text($0, realNames) }, fakeRoutes.map { Self.text($0, fakeNames) })
        if ours != theirs { differences.append("default routes: real \(ours), fake \(theirs)") }
        return differences
    }

    private static func text(_ address: InterfaceAddress, _ names: [UInt32: String]) -> String {
        let flags = address.flags.intersection([.tentative, .deprecated, .secondary, .detectionFailed])
        return "\(names[address.interface] ?? "?") \(address) \(flags.rawValue)"
    }

    private static func text(_ route: DefaultRoute, _ names: [UInt32: String]) -> String {
        let hops = route.nextHops.map { "\(names[$0.interface] ?? "?") via \($0.gateway.map(\.description) ?? "-")" }
            .sorted()
        return "\(route.family) table \(route.table) metric \(route.metric) \(hops)"
    }

    private static func text(_ link: Link) -> String {
        "\(link.name) \(link.isUp) \(link.hasCarrier) \(link.flags.contains(.running)) \(link.operationalState.rawValue)"
    }

    private func routeDifferences(_ queries: [RouteQuery]) throws -> [String] {
        let realNames = Dictionary(uniqueKeysWithValues: try real.answer(to: .links).links.map { ($0.name, $0.index) })
        let realQueries = queries.map { $0.translated { realNames[$0] ?? 9999 } }
        let fakeQueries = queries.map { $0.translated { fake.index(of: $0) ?? 9999 } }
        let realAnswers = try real.query(realQueries.map { .route($0) }).map(\.route)
        let fakeAnswers = try connection.query(fakeQueries.map { .route($0) }).map(\.route)
        let realLinks = Dictionary(uniqueKeysWithValues: realNames.map { ($1, $0) })
        let fakeLinks = Dictionary(
            uniqueKeysWithValues: try connection.answer(to: .links).links.map { ($0.index, $0.name) }
        )
        var differences: [String] = []
        for (query, (real, fake)) in zip(queries, zip(realAnswers, fakeAnswers)) {
            let real = ComparableAnswer(real, names: realLinks)
            let fake = ComparableAnswer(fake, names: fakeLinks)
            if !real.agrees(with: fake) { differences.append("\(query.text): real \(real), fake \(fake)") }
        }
        return differences
    }
}

extension RouteQuery {
    /// In the queries of the tests, interface 2 is c0 and interface 3 is c1.
    fileprivate func translated(_ index: (String) -> UInt32) -> RouteQuery {
        var query = self
        query.outputInterface = outputInterface.map { index("c\($0 - 2)") }
        return query
    }

    var text: String {
        var text = "\(destination)"
        if let source { text += " from \(source)" }
        if let outputInterface { text += " oif c\(outputInterface - 2)" }
        if mark != 0 { text += " mark \(mark)" }
        return wantsEntry ? text + " (entry)" : text
    }
}

/// A kernel's answer with names instead of indices, and without properties that differ by chance.
struct ComparableAnswer: CustomStringConvertible {
    private var fields: [String]
    private var nextHops: [String]

    init(_ answer: Result<Route, SystemError>, names: [UInt32: String]) {
        switch answer {
        case .failure(let error):
            fields = ["error \(error)"]
            self.nextHops = []
        case .success(let route):
            fields = [
                "kind \(route.kind.rawValue)", "table \(route.table.map { "\($0)" } ?? "-")", "/\(route.prefixLength)",
                "src \(route.source.map(\.description) ?? "-")", "nhid \(route.nextHopID)",
                "metric \(route.metric)",
                // The clocks differ. The real kernel reports hundredths of a second.
                route.lifetime == nil ? "for ever" : "ends",
            ]
            self.nextHops = route.nextHops.map { hop in
                "\(names[hop.interface] ?? "?") via \(hop.gateway.map(\.description) ?? "-")"
            }.sorted()
        }
    }

    func agrees(with other: ComparableAnswer) -> Bool {
        fields == other.fields && nextHops == other.nextHops
    }

    var description: String { (fields + nextHops).joined(separator: ", ") }
}
