import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSupport
import NetworkReachability
import ReachabilityChecks

/// The program behind `reachability watch --check`: prints one line per new verdict until a signal ends it.
struct Verdicts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "verdicts", shouldDisplay: false)

    @OptionGroup var arguments: CheckArguments

    func run() async throws {
        try await NetworkCheck.prepare()
        // Lines are written whole, by one system call each, so nothing is left to flush.
        let signals = SignalSources([SIGINT, SIGTERM]) { _ in Glibc.exit(0) }
        StandardOutput.exitWhenReaderCloses()
        let options = try CheckOptions(arguments)
        let json = arguments.json
        let targets = try Check.targets(arguments.targets)
        try NetworkCheck.ensureUse(of: options)
        await withDiscardingTaskGroup { group in
            for target in targets {
                group.addTask {
                    for await verdict in NetworkCheck(target: target, options: options).verdicts {
                        VerdictLine(target?.text ?? "internet", verdict).write(asJSON: json)
                    }
                }
            }
        }
        withExtendedLifetime(signals) {}
    }
}

/// The program behind `reachability wait --works`: ends when the targets work, or at a time limit.
struct UntilWorks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "until-works", shouldDisplay: false)

    @OptionGroup var arguments: CheckArguments

    @Option(parsing: .unconditional)
    var within: DurationArgument?

    @Flag var any = false

    func run() async throws {
        try await NetworkCheck.prepare()
        let signals = SignalSources([SIGINT, SIGTERM]) { Glibc.exit(128 + $0) }
        let options = try CheckOptions(arguments)
        let json = arguments.json
        let limit = try within?.value
        let targets = try Check.targets(arguments.targets)
        try NetworkCheck.ensureUse(of: options)
        let needed = any ? 1 : targets.count
        let found = await withTaskGroup(of: Bool?.self) { group in
            if let limit {
                group.addTask {
                    try? await Task.sleep(for: limit)
                    return nil
                }
            }
            for target in targets {
                group.addTask {
                    guard let verdict = await NetworkCheck(target: target, options: options).firstSuccess() else {
                        return false
                    }
                    VerdictLine(target?.text ?? "internet", verdict).write(asJSON: json)
                    return true
                }
            }
            var found = 0
            while found < needed, let one = await group.next(), let one { found += one ? 1 : 0 }
            group.cancelAll()
            return found
        }
        withExtendedLifetime(signals) {}
        if found >= needed { return }
        let text = "timeout after \(within?.text ?? ""): the target does not work; `reachability check` finds the fault"
        throw ExitMessage(text, .temporaryFailure)
    }
}

/// A verdict as a line of output.
struct VerdictLine {
    private let target: String
    private let verdict: CheckVerdict

    init(_ target: String, _ verdict: CheckVerdict) {
        (self.target, self.verdict) = (target, verdict)
    }

    /// Prints the verdict as text or as a JSON object of schema 1. Keys may be added; none is renamed or removed.
    func write(asJSON: Bool) {
        let time = Timestamp()
        guard asJSON else {
            let words = "\(verdict.failurePoint.rawValue): \(verdict.text), \(verdict.confidence.rawValue)"
            return StandardOutput.write(text: "\(time.text) \(target): \(words)")
        }
        var object = JSONObject(at: time)
        object.add("target", target)
        object.add("place", verdict.failurePoint.rawValue)
        object.add("reason", verdict.reason.rawValue)
        object.add("confidence", verdict.confidence.rawValue)
        object.add("text", verdict.text)
        object.add("notes", verdict.notes)
        object.add("kind", "verdict")
        StandardOutput.write(object.bytes)
    }
}
