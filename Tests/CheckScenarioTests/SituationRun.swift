import Foundation
import NetworkLab
import Testing

/// A run of a situation: its construction, its proof, and the test of the verdict.
struct SituationRun: Sendable {
    let situation: Situation
    let variant: Situation.Variant
    let world: World
    private let servers: Servers

    /// Builds the network.
    init(_ test: SituationCase) async throws {
        let (situation, variant) = (test.situation, test.variant)
        (self.situation, self.variant) = (situation, variant)
        world = try await LabThread.detached { try World(variant.line, situation.steps) }
        servers = try await Servers(of: situation, in: world)
    }

    var addresses: [String] {
        situation.resolvers.map { $0.address(variant.line.families[0]) }
    }

    /// The arguments of the command.
    private var arguments: [String] {
        var arguments: [String] = []
        switch variant.ask {
        case .privately: arguments.append("--private")
        case .plainly: break
        case .anchors, .anchorsByAddress: arguments += situation.anchors.flatMap { ["--anchor", $0] }
        }
        if variant.ask == .anchorsByAddress {
            for (name, spot) in [("anchor", Spot.anchor), ("second", .secondAnchor)] {
                arguments += variant.line.families.flatMap { ["--resolve", "\(name).example=\(spot.address($0))"] }
            }
        }
        // One server in the file, and one in the option.
        if !variant.isNobody { arguments += addresses.flatMap { ["--dns", $0] } }
        return arguments + situation.arguments + (situation.target.map { [$0] } ?? [])
    }

    /// The factor by which a check may exceed its usual duration. CHECK_TIMES=exact is for a machine with nothing else to do. Otherwise the
    /// factor only bounds the wait for a check that never ends.
    private static let patience = isExact ? 1 : 20
    static let isExact = ProcessInfo.processInfo.environment["CHECK_TIMES"] == "exact"

    /// The maximum number of sent packets.
    private var budget: Int {
        if let most = situation.mostPackets { return most }
        var budget = variant.ask == .anchors || variant.ask == .anchorsByAddress ? 60 : 20
        if situation.target != nil { budget += 20 }
        if situation.names.isTruncated { budget += 30 }
        // The control requests of the target and of an anchor.
        if situation.isRepeated { budget += 20 }
        // The captive portal API is queried over TLS, which takes 12 to 14 packets. The rest of a private round takes eleven.
        if variant.ask == .privately, situation.arguments.contains("--portal-api") { budget += 10 }
        return situation.isLossy ? budget * 3 / 2 : budget
    }

    static func run(_ test: SituationCase) async throws {
        let run = try await SituationRun(test)
        do {
            try await run.play()
        } catch {
            await run.close()
            throw error
        }
        await run.close()
    }

    private func play() async throws {
        guard try await isProven(by: situation.facts), CheckCommand.isMeasured else { return }
        try await judge(late: situation.late, situation.right)
        guard let sequel = situation.sequel else { return }
        try await LabThread.detached { [world] in try world.apply(sequel.steps) }
        guard try await isProven(by: sequel.facts) else { return }
        try await judge(late: [], sequel.right)
    }

    func close() async {
        await servers.stop()
        world.close()
    }

    /// Tests the facts of the network. Returns false and records an issue if one does not hold. The command is then not tested.
    func isProven(by facts: [Fact]) async throws -> Bool {
        let pc = world[.pc]
        try await LabThread.detached {
            for (name, value) in World.settings(of: .pc, variant.line) { try pc.sysctl(name, value) }
        }
        let contradictions = try await withThrowingTaskGroup(of: String?.self) { group in
            for family in variant.line.families {
                for fact in facts where fact.family == nil || fact.family == family {
                    group.addTask { try await pc.perform { try fact.contradiction(family) } }
                }
            }
            return try await group.reduce(into: []) { if let text = $1 { $0.append(text) } }
        }
        for text in contradictions {
            Issue.record("The network differs from the description of the situation: \(text)")
        }
        return contradictions.isEmpty
    }

    /// The answer of the command, and the packets that the routers counted.
    private typealias Answer = (command: CheckCommand, sent: [String: Int], passed: [String: Int])

    private func ask(late: [Step]) async throws -> Answer {
        // A user namespace may have no other user than root.
        let isNobody = variant.isNobody && LabThread.canBecomeNobody
        return try await LabThread.detached {
            if isNobody { try world[.pc].sysctl("net.ipv4.ping_group_range", "1 0") }
            let before = (try world.counters(of: .router), try world.counters(of: .provider))
            // The steps are applied as late as possible, because their effect does not last.
            try world.apply(late)
            let command = try CheckCommand.run(
                in: world,
                arguments,
                resolvers: variant.isNobody ? addresses : [],
                asNobody: isNobody
            )
            let after = (try world.counters(of: .router), try world.counters(of: .provider))
            return (command, after.0.since(before.0), after.1.since(before.1))
        }
    }

    /// The time in which a router's error limit recovers. A Linux router sends a burst of six errors to each address and then one per
    /// second. Errors about routes count twice (`ip_error` and `icmp_send` share the account of `inet_peer`). The proof may have used up
    /// the limit. Then no error is sent, and the place is right for the wrong reason.
    private static let routerPatience = Duration.seconds(7)

    private func isMute(_ answer: Answer, _ right: Situation.Right) -> Bool {
        guard let line = answer.command.line, let reason = line.reason, right.places.contains(line.place) else {
            return false
        }
        return !right.reasons.isEmpty && !right.reasons.contains(reason) && reason.hasPrefix("silent")
    }

    private func isRight(_ answer: Answer, _ right: Situation.Right) -> Bool {
        guard let line = answer.command.line else { return false }
        return right.places.contains(line.place)
            && (right.reasons.isEmpty || right.reasons.contains(line.reason ?? ""))
            && (line.milliseconds ?? .max) <= longest(line)
            && max(line.cost.packets, answer.sent["sent"] ?? 0) <= budget
    }

    /// Returns the maximum duration. Small segments (2.6 s) and large packets (1.2 s) are tested after the other probes (3.4 s).
    private func longest(_ line: CheckLine) -> Int {
        let isLong = situation.isRepeated || line.probes.contains { $0.probe == "mtu" }
        return (isLong ? 7500 : 3500) * Self.patience
    }

    private func judge(late: [Step], _ right: Situation.Right) async throws {
        var answer = try await ask(late: late)
        // The servers run in this process. On a busy machine a server that gets no processor for a second is silent, and its questions are
        // repeated.
        for _ in 0..<(Self.isExact ? 0 : 4) where !isRight(answer, right) {
            try await Task.sleep(for: Self.routerPatience)
            answer = try await ask(late: late)
        }
        if isMute(answer, right) {
            try await Task.sleep(for: Self.routerPatience)
            answer = try await ask(late: [])
        }
        let (command, sent, passed) = answer
        guard let line = command.line else {
            Issue.record("the command printed no line: \(command.status) \(command.errors)")
            return
        }
        let said = Comment(rawValue: command.output + command.errors)
        try known(Shortcomings.verdicts[situation.id]) {
            #expect(right.places.contains(line.place), said)
            #expect(right.reasons.isEmpty || right.reasons.contains(line.reason ?? ""), said)
        }
        #expect(command.status == Exit.codes[line.place], said)
        #expect(line.schema == 1)
        #expect(line.milliseconds ?? .max <= longest(line), "the check takes too long: \(said)")
        // No host answers that was not probed.
        let untrue = line.steps.filter { ["dns", "portal"].contains($0.kind) && $0.state == "ok" }
        #expect(line.cost.packets > 0 || untrue.isEmpty, said)
        try known(Shortcomings.costs.contains(situation.id) ? "the check sends too many packets" : nil) {
            #expect(line.cost.packets <= budget, "the check reports too many packets: \(said)")
            #expect(sent["sent"] ?? 0 <= budget, "the router counts too many packets: \(said)")
        }
        if variant.ask == .privately {
            let strangers = try await LabThread.detached { try world.strangers() }
            #expect(passed["forbidden"] ?? 0 == 0, "packets were sent to \(strangers): \(said)")
            #expect(passed["strangers"] ?? 0 <= 4, "too many packets were sent to unused addresses: \(said)")
        }
    }
}

/// Runs a test that may fail for a known reason.
private func known(_ reason: String?, _ body: () throws -> Void) throws {
    guard let reason else { return try body() }
    withKnownIssue(Comment(rawValue: reason), isIntermittent: true) { try body() }
}

extension [String: Int] {
    fileprivate func since(_ earlier: [String: Int]) -> [String: Int] {
        merging(earlier) { $0 - $1 }
    }
}
