import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Random targets and random changes of routes and links, reproducible by seed. After each change the last report
/// must equal the result of a query, without waiting.
@Suite struct TargetModelTests {
    @Test(arguments: UInt64(1)...6)
    func `the last report of each host equals the result of a query`(seed: UInt64) async throws {
        try await WorldKind.playFake { world, checks in
            var random = TargetHistory(seed: seed)
            try world.apply(Change.twoUplinks + [.add("c2")])
            var unplugged: Set<String> = []
            var isDown = false
            for name in TargetHistory.names { world.resolver.set(name, addresses: random.addresses()) }
            var options = NetworkReachabilityOptions()
            options.nameResolutionWait = .zero
            let targets = try world.targets(options: options)
            try targets.setHosts((0..<40).map { _ in random.host() } + TargetHistory.names)
            let received = RecordingListener<NetworkReachabilityChange>()
            let token = targets.addListener(for: .egress, onQueue: nil, received.record)
            world.settle()
            var told: [String: NetworkPath] = [:]
            var routes: [RouteChange] = []
            for step in 0..<80 {
                switch random.draw(12) {
                case 0: try targets.insert(random.host())
                case 1: if let host = targets.hosts.sorted().first { targets.remove(host) }
                case 2:
                    world.resolver.set(TargetHistory.names[random.draw(3)], addresses: random.addresses())
                    world.resolver.changeConfiguration()
                    world.settle()
                case 3, 4, 5:
                    if !routes.isEmpty { try world.apply(.removeRoute(routes.remove(at: random.draw(routes.count)))) }
                case 6:
                    // A removed and an added route in one batch.
                    let next = random.route()
                    guard !routes.isEmpty, !routes.contains(where: { $0.destination == next.destination }) else {
                        break
                    }
                    try world.batch([.removeRoute(routes.remove(at: random.draw(routes.count))), .addRoute(next)])
                    routes.append(next)
                case 7:
                    let link = ["c0", "c1"][random.draw(2)]
                    let isUnplugged = unplugged.remove(link) != nil
                    try world.apply(isUnplugged ? .plug(link) : .unplug(link))
                    if !isUnplugged { unplugged.insert(link) }
                case 8:
                    // No route uses this link.
                    try world.apply(isDown ? .up("c2") : .down("c2"))
                    isDown.toggle()
                default:
                    let route = random.route()
                    if routes.contains(where: { $0.destination == route.destination }) { break }
                    try world.apply(.addRoute(route))
                    routes.append(route)
                }
                world.flush()
                for change in received.values { told[change.host] = change.path }
                received.removeAll()
                for host in targets.hosts {
                    let (last, now) = (told[host], targets.path(to: host))
                    let isSame =
                        last?.status == now?.status && last?.interface == now?.interface
                        && last?.gateway == now?.gateway && last?.source == now?.source
                    checks.expect(
                        isSame,
                        "step \(step), \(host): \(last, default: "nothing") was told, \(now, default: "nothing") is so"
                    )
                    if !isSame { return }
                }
            }
            token.cancel()
            world.flush()
            checks.expect(world.kernel.listenerCount, is: 0)
            checks.expect(world.clock.scheduledCount, is: 0)
        }
    }
}

/// Random hosts, addresses and routes from a small part of the network, reproducible by seed.
struct TargetHistory {
    static let names = ["a.example", "b.example", "c.example"]

    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9e37_79b9_7f4a_7c15
    }

    mutating func address() -> String {
        draw(2) == 0 ? "198.18.\(draw(4)).\(draw(8) * 32 + draw(3))" : "2001:db8:\(draw(4))::\(draw(4)):\(draw(3) + 1)"
    }

    mutating func host() -> String {
        draw(8) == 0 ? TargetHistory.names[draw(3)] : address()
    }

    mutating func addresses() -> [String] {
        (0...draw(3)).map { _ in address() }
    }

    /// Returns a route to some, many or none of the addresses, through either uplink or of a rejecting type.
    mutating func route() -> RouteChange {
        let isIPv4 = draw(2) == 0
        let number = draw(2) + 1
        let destination =
            isIPv4
            ? [
                "198.18.\(draw(4)).0/24", "198.18.\(draw(4)).\(draw(8) * 32)/27",
                "198.18.\(draw(4)).\(draw(8) * 32 + draw(3))/32",
                "198.18.0.0/15", "198.18.\(draw(2) * 2).0/23", "192.0.0.0/3", "10.\(draw(200) + 9).0.0/16",
                "128.0.0.0/1",
            ][draw(8)]
            : [
                "2001:db8:\(draw(4))::/48", "2001:db8:\(draw(4))::\(draw(4)):\(draw(3) + 1)/128", "2001:db8::/32",
                "2000::/3", "2001:db8:\(draw(2) * 2)::/47", "fd77:\(draw(99))::/64",
            ][draw(6)]
        switch draw(3) {
        case 0: return RouteChange(destination, [.blackhole, .unreachable, .prohibit][draw(3)])
        default: return RouteChange(destination, via: isIPv4 ? "10.\(number).0.1" : "fd0\(number)::1")
        }
    }

    /// Knuth's linear congruential generator. Only its high bits are used.
    mutating func draw(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }
}

/// The changes of many hosts as an asynchronous sequence.
@Suite struct TargetSequenceTests {
    @Test func `each loop begins with the current state of each host`() async throws {
        let world = FakeWorld()
        try world.apply(Change.ipv4Uplink)
        let targets = try world.targets(["192.0.2.1", "198.51.100.1"])
        for _ in 0..<2 {
            var iterator = targets.changes.makeAsyncIterator()
            var seen: [String: NetworkReachabilityStatus] = [:]
            for _ in 0..<2 {
                let change = try #require(await iterator.next(isolation: nil))
                seen[change.host] = change.status
            }
            #expect(seen == ["192.0.2.1": .wired, "198.51.100.1": .wired])
            try world.apply(.addRoute(RouteChange("192.0.2.0/24", .blackhole)))
            let change = try #require(await iterator.next(isolation: nil))
            #expect(change.host == "192.0.2.1" && change.status == .notReachable)
            try world.apply(.removeRoute(RouteChange("192.0.2.0/24", .blackhole)))
            #expect(await iterator.next(isolation: nil)?.status == .wired)
        }
    }

    @Test func `a slow reader receives only the latest state of each host`() async throws {
        let world = FakeWorld()
        try world.apply(Change.ipv4Uplink)
        let targets = try world.targets(["192.0.2.1", "198.51.100.1"])
        var iterator = targets.changes.makeAsyncIterator()
        for _ in 0..<2 { _ = await iterator.next(isolation: nil) }
        for _ in 0..<50 {
            try world.apply(.lose)
            world.flush()
            try world.apply(.regain)
            world.flush()
        }
        try world.apply(.addRoute(RouteChange("192.0.2.0/24", .blackhole)))
        world.flush()
        // The other host has the state that the reader knows.
        let change = try #require(await iterator.next(isolation: nil))
        #expect(change.host == "192.0.2.1" && change.status == .notReachable)
        try world.apply(.lose)
        #expect(await iterator.next(isolation: nil)?.host == "198.51.100.1")
    }

    @Test func `cancelling the task ends the listener`() async throws {
        let world = FakeWorld()
        try world.apply(Change.ipv4Uplink)
        let targets = try world.targets(["192.0.2.1"])
        let recorder = ChangeRecorder()
        let reader = Task { for await change in targets.changes { recorder.record(change) } }
        #expect(await recorder.received.waitForCount(1, timeout: .seconds(90)))
        #expect(world.kernel.listenerCount == 1)
        reader.cancel()
        await reader.value
        world.flush()
        #expect(world.kernel.listenerCount == 0)
    }

    @Test func `leaving the loop ends the listener`() async throws {
        let world = FakeWorld()
        try world.apply(Change.ipv4Uplink)
        let targets = try world.targets(["192.0.2.1"])
        for await _ in targets.changes { break }
        world.flush()
        #expect(world.kernel.listenerCount == 0)
    }
}
