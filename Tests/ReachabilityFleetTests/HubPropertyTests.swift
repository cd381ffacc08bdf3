import ReachabilityFleet
import ReachabilityLedger
import TestSupport
import Testing

/// Properties that hold for any sequence of events at a site, and for any order of messages.
@Suite struct HubPropertyTests {
    private static let seeds = 0..<UInt64(25)

    private static func hub(_ simulation: FleetSimulation, _ each: (Hub, [Hub.Decision]) -> Void = { _, _ in }) -> Hub {
        var hub = Hub()
        hub.brokerConnected(at: at(0))
        for message in simulation.messages {
            while let deadline = hub.deadline, deadline <= message.time {
                let decisions = hub.pass(to: deadline)
                each(hub, decisions)
            }
            let decisions = hub.take(message)
            each(hub, decisions)
        }
        return hub
    }

    private static func walls(_ seed: UInt64) -> [Int] {
        var chance = SeededGenerator(seed: seed &+ 1000)
        // The clocks differ by up to ten years in both directions, after 1990.
        return (0..<FleetSimulation.deviceCount).map { _ in
            1_000_000_000 + Int.random(in: -315_360_000...315_360_000, using: &chance)
        }
    }

    private static func word(of cause: FleetSimulation.Cause) -> String {
        switch cause {
        case .cable: "outage"
        case .power: "power"
        case .sleep: "sleep"
        case .provider: "site"
        }
    }

    @Test(arguments: seeds)
    func `each event is one incident and each absence gets the right verdict`(seed: UInt64) throws {
        let simulation = FleetSimulation(seed: seed, walls: Self.walls(seed))
        let hub = Self.hub(simulation)
        let incidents = hub.book.incidents.reversed()
        try #require(incidents.count == simulation.happenings.count)
        for (incident, happening) in zip(incidents, simulation.happenings) {
            #expect(!incident.isOpen)
            #expect(incident.devices == happening.devices.map(FleetSimulation.name).sorted())
            for device in incident.devices {
                #expect(incident.verdict(of: device)?.word == Self.word(of: happening.cause))
            }
            #expect(incident.isHarmless == (happening.cause == .sleep))
        }
    }

    @Test(arguments: seeds)
    func `the clocks of machines do not affect the result`(seed: UInt64) {
        func outcome(_ walls: [Int]) -> [String] {
            Self.hub(FleetSimulation(seed: seed, walls: walls)).book.incidents.map { incident in
                "\(incident.id) \(incident.start) \(String(describing: incident.end)) \(incident.devices) "
                    + "\(incident.devices.map { incident.verdict(of: $0)?.word ?? "" })"
            }
        }
        #expect(outcome(Self.walls(seed)) == outcome(Self.walls(seed &+ 77)))
    }

    @Test(arguments: seeds)
    func `each incident opens once and closes once and each absence always has a verdict`(
        seed: UInt64
    ) {
        var (opened, open): (Set<String>, Set<String>) = ([], [])
        let simulation = FleetSimulation(seed: seed, walls: Self.walls(seed))
        _ = Self.hub(simulation) { hub, decisions in
            for case .incident(let change) in decisions {
                switch change.kind {
                case .opened:
                    #expect(opened.insert(change.incident).inserted)
                    open.insert(change.incident)
                case .reopened: #expect(open.insert(change.incident).inserted)
                case .closed: #expect(open.remove(change.incident) != nil)
                case .refined: #expect(opened.contains(change.incident))
                }
            }
            #expect(Set(hub.book.incidents.filter(\.isOpen).map(\.id)) == open)
            for device in hub.devices.values where device.gap != nil {
                #expect(hub.verdict(of: device.place) != nil)
            }
        }
    }

    @Test(arguments: seeds)
    func `a hub that restarts has the same result`(seed: UInt64) throws {
        let simulation = FleetSimulation(seed: seed, walls: Self.walls(seed))
        var chance = SeededGenerator(seed: seed)
        var hub = Hub()
        hub.brokerConnected(at: at(0))
        for message in simulation.messages {
            if Int.random(in: 0..<10, using: &chance) == 0 {
                hub = Hub(devices: Array(hub.devices.values), incidents: hub.book.incidents)
                hub.brokerConnected(at: message.time)
            }
            while let deadline = hub.deadline, deadline <= message.time { _ = hub.pass(to: deadline) }
            _ = hub.take(message)
        }
        let once = Self.hub(simulation)
        #expect(hub.book.incidents == once.book.incidents)
    }

    @Test func `invalid messages never crash a hub and its memory stays bounded`() {
        var chance = SeededGenerator(seed: 5)
        var hub = Hub()
        hub.brokerConnected(at: at(0))
        let messages = FleetSimulation(seed: 1, walls: Self.walls(1)).messages
        for round in 0..<MutationCount.value {
            guard let message = messages.randomElement(using: &chance) else { continue }
            var payload = message.payload
            for _ in 0..<Int.random(in: 1...3, using: &chance) where !payload.isEmpty {
                let index = Int.random(in: 0..<payload.count, using: &chance)
                payload[index] = UInt8.random(in: 32...126, using: &chance)
            }
            let isRetained = Int.random(in: 0..<5, using: &chance) == 0
            _ = hub.take(.init(topic: message.topic, payload: payload, isRetained: isRetained, time: at(round)))
            if round % 100 == 0 {
                _ = hub.pass(to: at(round))
                hub.prune("north")
            }
        }
        #expect(hub.devices.count == FleetSimulation.deviceCount)
        #expect(hub.book.incidents.count <= 1040)
    }
}
