import Foundation
import Glibc
import NetworkLab

/// One run of a scenario. It blocks, so it needs its own thread.
final class ScenarioRun {
    private let scenario: Scenario
    private let targets: [Target]
    private var findings: [Finding] = []
    private var watchers: [Watcher] = []
    private var spoken: [Target: Int] = [:]

    private init(_ scenario: Scenario) {
        self.scenario = scenario
        targets = [.large] + Target.hosts(of: scenario)
    }

    /// Plays the scenario, unless the machine does not meet a requirement.
    static func findings(of scenario: Scenario) -> [Finding] {
        let run = ScenarioRun(scenario)
        if let missing = scenario.needs.first(where: { !$0.isMet }) {
            print("\(scenario.name): not played, needs \(missing.rawValue)")
            return []
        }
        do {
            try run.play()
        } catch {
            run.note(.broken, "\(error)")
        }
        return run.findings
    }

    private func play() throws {
        let stage = try Stage(scenario)
        for var phase in Phase.all(of: scenario) {
            try stage.play(phase.script)
            if phase.told == "?" {
                phase.told = String(try Target.answering(targets, stage.lab.oracle).map(\.letter))
            } else {
                try checkTruth(of: phase, on: stage)
            }
            guard Product.isMeasured else { continue }
            if watchers.isEmpty {
                watchers = [
                    try Watcher([.large], in: stage.lab.client),
                    try Watcher(Target.hosts(of: scenario), in: stage.lab.client),
                ]
            }
            let agreeing = try checkAgreement(in: phase)
            let agreed = ContinuousClock.now
            try checkOneShots(in: phase, on: stage)
            _ = try Watcher.read(watchers, within: phase.quiet - (.now - agreed))
            checkLines(of: phase, agreeing: agreeing)
        }
        try endWatching()
    }

    private func note(_ kind: Finding.Kind, _ text: String) {
        findings.append(Finding(kind: kind, text: text))
    }

    private func checkTruth(of phase: Phase, on stage: Stage) throws {
        let reached = try Target.reached(
            targets,
            by: stage.lab.oracle,
            claimed: phase.packets,
            within: .patience
        )
        guard let reached else { return }
        let pattern = String(targets.filter(reached.contains).map(\.letter))
        if pattern != phase.packets.filter({ $0 != "w" }) {
            note(.truth, "\(phase.name): claims '\(phase.packets)', packets '\(pattern)'")
        }
    }

    private func lastSaid(_ target: Target) -> Expectation? {
        watchers.lazy.compactMap { $0.lines[target]?.last?.said }.first
    }

    /// Returns the targets whose last line is as expected before the time limit.
    private func checkAgreement(in phase: Phase) throws -> Set<Target> {
        var agreeing: Set<Target> = []
        for target in targets {
            let expected = phase.expectation(of: target)
            let before = spoken[target] ?? 0
            let agreed = try Watcher.read(watchers, within: .patience) {
                agrees(lastSaid(target), with: expected, about: target)
            }
            if agreed {
                agreeing.insert(target)
                continue
            }
            let lines = watchers.lazy.compactMap { $0.lines[target] }.first ?? []
            let text = "\(phase.name) \(target.host ?? "at large"): \(expected) expected, \(describe(lines.last))"
            note(lines.count > before ? .wrong : .missing, text)
        }
        return agreeing
    }

    private func checkOneShots(in phase: Phase, on stage: Stage) throws {
        for target in targets {
            let expected = phase.expectation(of: target)
            let answer = try Product.ask(target, in: stage.lab.client)
            let status: CInt = ["reachable": 0, "notReachable": 1][answer.line.status] ?? 2
            if !agrees(answer.line.said, with: expected, about: target) || answer.status != status {
                let text = "\(expected) expected, \(describe(answer.line)), exit status \(answer.status)"
                note(.oneShot, "\(phase.name) \(target.host ?? "at large"): \(text)")
            }
        }
    }

    /// Checks that the status has not changed more often than expected since the previous phase, and that no line
    /// repeats the previous one.
    private func checkLines(of phase: Phase, agreeing: Set<Target>) {
        for target in targets {
            let lines = watchers.lazy.compactMap { $0.lines[target] }.first ?? []
            let said = lines.map(\.said)
            let known = spoken[target] ?? 0
            spoken[target] = lines.count
            let changes = known == 0 || said[known - 1] != said.last ? 1 : 0
            let news = zip(lines, lines.dropFirst()).dropFirst(max(known - 1, 0))
            let repeats = news.contains { $0.said == $1.said && $0.reason == $1.reason }
            // A new reason also causes a line, so only changes of the status are counted.
            let turns = news.count { $0.said != $1.said } + (known == 0 ? 1 : 0)
            if repeats || (!scenario.mayFlip && turns > changes) {
                let text = lines.dropFirst(known).map(describe).joined(separator: ", ")
                note(.extra, "\(phase.name) \(target.host ?? "at large"): \(text)")
            }
            if agreeing.contains(target), !agrees(said.last, with: phase.expectation(of: target), about: target) {
                note(.wrong, "\(phase.name) \(target.host ?? "at large"): did not stay, \(describe(lines.last))")
            }
        }
    }

    private func endWatching() throws {
        for watcher in watchers {
            watcher.process.signal(SIGTERM)
            let result = try watcher.process.wait()
            if result.status != 0 || !result.errors.isEmpty {
                note(.broken, "watch ended with \(result.status): \(result.errors)")
            }
        }
    }

    /// Compares the connection type only for the standard targets. The client's own addresses have no meaningful one.
    private func agrees(_ said: Expectation?, with expected: Expectation, about target: Target) -> Bool {
        "g46".contains(target.letter) ? said == expected : said?.status == expected.status
    }

    private func describe(_ line: StatusLine?) -> String {
        guard let line else { return "nothing said" }
        return "\(line.said)\(line.interface.map { " \($0)" } ?? "")\(line.reason.map { " (\($0))" } ?? "")"
    }
}

/// One of the three phases of a scenario.
struct Phase {
    let name: String
    let script: String
    let packets: String
    var told: String
    /// The time without further lines after all lines agree.
    var quiet = Duration.milliseconds(300)

    /// The phases of a scenario in their order.
    static func all(of scenario: Scenario) -> [Phase] {
        let told =
            switch scenario.measure {
            case .packets: scenario.reached.after
            case .kernelCannotKnow: scenario.reached.before
            case .exception(let told, _): told
            }
        return [
            Phase(name: "before", script: "", packets: scenario.reached.before, told: scenario.reached.before),
            Phase(
                name: "after",
                script: scenario.change,
                packets: scenario.reached.after,
                told: told,
                quiet: scenario.quiet
            ),
            Phase(name: "back", script: scenario.undo, packets: scenario.reached.back, told: scenario.reached.back),
        ]
    }

    /// The status that the product must report for a target in this phase.
    func expectation(of target: Target) -> Expectation {
        guard told.contains(target.letter) else { return Expectation(status: "notReachable", connectionType: nil) }
        return Expectation(status: "reachable", connectionType: told.contains("w") ? "wwan" : "ethernetOrWiFi")
    }
}

/// A requirement of a scenario.
enum Need: String, Sendable {
    case tun = "/dev/net/tun"
    case radvd = "/usr/sbin/radvd"
    case otherUsers = "users besides our own"

    var isMet: Bool {
        switch self {
        case .tun, .radvd:
            access(rawValue, R_OK) == 0
        case .otherUsers:
            // Inside `unshare -Ur` there is only one user.
            (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8))?.hasSuffix(" 1\n") == false
        }
    }
}

/// The expected part of a line.
struct Expectation: Equatable, CustomStringConvertible {
    let status: String
    let connectionType: String?

    var description: String { connectionType.map { "\(status) \($0)" } ?? status }
}

/// A failed check.
struct Finding: Sendable {
    enum Kind: String, Sendable {
        /// Packets reached other targets than the scenario states.
        case truth
        /// The status changed, but no line was written.
        case missing
        /// The last line contradicts the expected status.
        case wrong
        /// A line was written, but the status did not change.
        case extra
        /// The one-shot command reports another status.
        case oneShot = "one-shot"
        /// A process or a command failed, or a line is invalid.
        case broken
    }

    let kind: Kind
    let text: String
}
