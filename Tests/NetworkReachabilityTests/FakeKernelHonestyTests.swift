import KernelLab
import LinuxSupport
import NetworkLab
import NetworkReachabilityTesting
import Testing

/// Comparison of the fake kernel with the real one: the same commands and the same queries. Requires root.
@Suite(.serialized) struct FakeKernelHonestyTests {
    @Test(arguments: HonestyScenario.all)
    func answersAsLinuxDoes(_ scenario: HonestyScenario) throws {
        var surplus: [String] = []
        // Deferred work of the kernel, late on a busy machine, may repeat an event of the preparation.
        for _ in 0..<3 {
            surplus = try run(scenario)
            if surplus.isEmpty { return }
        }
        Issue.record("\(surplus.joined(separator: "\n"))")
    }

    /// Returns the events that only the real kernel sent.
    private func run(_ scenario: HonestyScenario) throws -> [String] {
        let kernels = try TwoKernels()
        for command in HonestyScenario.addresses + scenario.preparation { try kernels.run(command) }
        try compare(kernels, scenario, after: "the preparation")
        _ = kernels.hints()
        var surplus: [String] = []
        for command in scenario.commands {
            try kernels.run(command)
            try compare(kernels, scenario, after: command)
            let hints = kernels.hints()
            #expect(hints.real.subjects.isSuperset(of: hints.fake.subjects), "extra event for \(command): \(hints)")
            if hints.real.subjects != hints.fake.subjects { surplus.append("missing event for \(command): \(hints)") }
        }
        return surplus
    }

    private func compare(_ kernels: TwoKernels, _ scenario: HonestyScenario, after change: String) throws {
        let differences = try kernels.differences(scenario.queries)
        if !differences.isEmpty { Issue.record("after \(change):\n\(differences.joined(separator: "\n"))") }
    }
}

/// Long random sequences of commands, the same in every run, applied to the fake and the real kernel. Requires root.
@Suite(.serialized) struct FakeKernelRandomTests {
    @Test(arguments: UInt64(1)...4)
    func answersAsLinuxDoes(_ seed: UInt64) throws {
        let kernels = try TwoKernels()
        var history = RandomHistory(seed: seed)
        var done: [String] = []
        let queries = HonestyScenario(name: "", commands: [], comparesEntriesOnly: true).queries
        for command in HonestyScenario.addresses { try kernels.run(command) }
        for _ in 0..<60 {
            let command = history.next()
            // A command that Linux rejects is not applied to the fake kernel, because it would end the program.
            guard try kernels.runIfPossible(command) else { continue }
            done.append(command)
            let differences = try kernels.differences(queries)
            guard differences.isEmpty else {
                Issue.record("after \(done.joined(separator: "; ")):\n\(differences.joined(separator: "\n"))")
                return
            }
        }
        #expect(done.count > 20, "too many commands were rejected for a meaningful comparison")
    }
}

/// Random commands. Equal seeds give equal commands.
struct RandomHistory {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9e37_79b9_7f4a_7c15
    }

    mutating func next() -> String {
        let number = draw(2) + 1
        let link = "c\(number - 1)"
        switch draw(22) {
        case 0: return "link set \(link) down"
        case 1, 2: return "link set \(link) up"
        case 3: return "cable r\(number - 1) down"
        case 4, 5: return "cable r\(number - 1) up"
        case 6: return "addr add 10.\(number).0.2/24 dev \(link)"
        case 7: return "addr add fd0\(number)::2/64 dev \(link)"
        case 8:
            return draw(2) == 0 ? "addr del 10.\(number).0.2/24 dev \(link)" : "addr del fd0\(number)::2/64 dev \(link)"
        case 9, 10: return "route replace default via 10.\(number).0.1\(metric())"
        case 11, 12: return "-6 route replace default via fd0\(number)::1\(metric())"
        case 13: return draw(2) == 0 ? "route del default\(metric())" : "-6 route del default\(metric())"
        case 14:
            let kind = ["blackhole", "unreachable", "prohibit", "throw"][draw(4)]
            return draw(2) == 0 ? "route replace \(kind) 1.0.0.0/8" : "-6 route replace \(kind) 2606::/16"
        case 15: return "-6 rule add pref \(100 + draw(3)) from fd0\(number)::2 \(action())"
        case 16: return "rule add pref \(100 + draw(3)) to 1.0.0.0/8 \(action())"
        case 17: return draw(2) == 0 ? "rule del pref \(100 + draw(3))" : "-6 rule del pref \(100 + draw(3))"
        case 18: return "nexthop add id \(number) via 10.\(number).0.1 dev \(link)"
        case 19: return draw(2) == 0 ? "route add 9.0.0.0/8 nhid \(number)" : "nexthop del id \(number)"
        case 20:
            let (one, other) = draw(2) == 0 ? ("10.1.0.1", "10.2.0.1") : ("fd01::1", "fd02::1")
            let family = one.contains(":") ? "-6 " : ""
            return "\(family)route add default nexthop via \(one) dev c0 nexthop via \(other) dev c1\(metric())"
        default: return "ignore ipv\(draw(2) == 0 ? 4 : 6) \(draw(2))"
        }
    }

    private mutating func action() -> String {
        ["prohibit", "unreachable", "blackhole", "lookup main"][draw(4)]
    }

    private mutating func metric() -> String {
        ["", "", " metric 50", " metric 200"][draw(4)]
    }

    /// Knuth's linear congruential generator. Its high bits are sufficiently random.
    private mutating func draw(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }
}
