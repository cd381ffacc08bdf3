import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Random targets and random changes of routes and links, the same ones in every run: what was told last is what is asked, after each
/// change, without any time having gone by.
@Suite struct TargetModelTests {
    @Test(arguments: UInt64(1)...6)
    func whatWasToldIsWhatIsAsked(seed: UInt64) async throws {
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
            let heard = RecordingListener<NetworkReachabilityChange>()
            let token = targets.addListener(for: .egress, onQueue: nil, heard.record)
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
                    // One that goes and one that comes, in one batch.
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
                    // Nobody leaves over this one.
                    try world.apply(isDown ? .up("c2") : .down("c2"))
                    isDown.toggle()
                default:
                    let route = random.route()
                    if routes.contains(where: { $0.destination == route.destination }) { break }
                    try world.apply(.addRoute(route))
                    routes.append(route)
                }
                world.flush()
                for change in heard.values { told[change.host] = change.path }
                heard.removeAll()
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
