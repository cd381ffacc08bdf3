import Dispatch
import NetworkLab
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Messages of a real kernel that are lost while listening begins, while targets change, and while it ends.
@Suite struct RealOverrunTests {
    /// Changes that matter to every host of 192.0.2.0/24, more than a socket's buffer takes.
    private static let storm: [Change] = {
        let routes = (1...3000).map { RouteChange("192.0.2.0/24", metric: $0, .blackhole) }
        return routes.map { .addRoute($0) } + routes.map { .removeRoute($0) }
    }()

    /// How many route netlink sockets of processes there are.
    private static func sockets(in world: RealWorld) throws -> Int {
        try world.client.perform { try ListedSocket.all() }.count { $0.family == 0 && $0.port != 0 }
    }

    @Test func overrunsInEveryPhase() async throws {
        try await WorldKind.real.play { world, checks in
            guard let world = world as? RealWorld else { throw LabError("no real world") }
            try world.apply(Change.ipv4Uplink)
            let hosts = (1...30).map { "192.0.2.\($0)" }
            var overruns: UInt64 = 0
            for phase in ["start", "change", "end"] {
                let targets = try world.targets(phase == "start" ? [] : hosts)
                let (recorder, gate) = (ChangeRecorder(), DispatchSemaphore(value: 0))
                let entered = RecordingListener<Void>()
                let token = targets.listen(recorder)
                if phase != "start" { checks.expect(in: world, recorder.latest.count, becomes: 30) }
                // Whoever is told directly holds the monitor up, so that the socket's buffer runs over.
                let holder = try world.targets(["192.0.2.100"])
                let held = holder.addListener(onQueue: nil) { _ in
                    entered.record(())
                    if entered.count == 1 { gate.wait() }
                }
                checks.expect(entered.waitForCount(1, timeout: .seconds(30)), "nobody listens")
                if phase == "start" { try targets.setHosts(hosts) }
                try world.batch(Self.storm)
                switch phase {
                case "change": try targets.setHosts((21...50).map { "192.0.2.\($0)" })
                case "end":
                    token.cancel()
                    held.cancel()
                default: break
                }
                try world.apply(.addRoute(RouteChange("192.0.2.0/26", .prohibit)))
                gate.signal()
                if phase == "end" {
                    // Who begins anew hears what is so.
                    let (later, last) = (ChangeRecorder(), try world.targets(hosts))
                    let token = last.listen(later)
                    checks.expect(in: world, later.latest.count, becomes: 30)
                    checks.expect(later.latest.values.allSatisfy { $0 == .notReachable }, "a wrong beginning")
                    token.cancel()
                } else {
                    let watched = Set(targets.hosts)
                    checks.expect(
                        in: world,
                        recorder.latest.filter { watched.contains($0.key) && $0.value == .notReachable }.count,
                        becomes: 30
                    )
                    token.cancel()
                    held.cancel()
                }
                overruns += targets.statistics.overruns
                try world.apply(.removeRoute(RouteChange("192.0.2.0/26", .prohibit)))
            }
            checks.expect(overruns > 0, "nothing ran over")
            checks.expect(in: world, try? Self.sockets(in: world), becomes: 0)
        }
    }

    /// Monitors and managers come and go while covering routes do.
    @Test func beginningsAndEndsInAStorm() async throws {
        try await WorldKind.real.play { world, checks in
            guard let world = world as? RealWorld else { throw LabError("no real world") }
            try world.apply(Change.ipv4Uplink)
            let isOver = RecordingListener<Void>()
            DispatchQueue.concurrentPerform(iterations: 3) { thread in
                if thread == 0 {
                    for _ in 0..<2 { try? world.batch(Self.storm) }
                    isOver.record(())
                }
                var rounds = 0
                while thread > 0, isOver.count == 0, rounds < 2000 {
                    rounds += 1
                    guard let targets = try? world.targets((1...20).map { "192.0.2.\($0 * thread)" }) else { continue }
                    let (recorder, listener) = (ChangeRecorder(), Listener())
                    let token = targets.listen(recorder)
                    let manager = try? world.manager(of: "192.0.2.\(thread)")
                    manager?.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
                    if rounds % 2 == 0 { _ = targets.remove("192.0.2.\(thread)") }
                    if rounds % 3 == 0 { recorder.heard.waitForCount(1, timeout: .seconds(60)) }
                    if rounds % 4 == 0 { token.cancel() }
                }
            }
            let targets = try world.targets(["192.0.2.1"])
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
            checks.expect(in: world, recorder.latest["192.0.2.1"], becomes: .wired)
            try world.apply(.addRoute(RouteChange("192.0.2.0/26", .prohibit)))
            checks.expect(in: world, recorder.latest["192.0.2.1"], becomes: .notReachable)
            token.cancel()
        }
    }
}
