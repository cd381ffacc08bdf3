import ArgumentParser
import CommandLineSupport
import LinuxSupport
import NetworkReachability
import ReachabilityChecks

/// `reachability check`: where it breaks.
struct Check: AsyncParsableCommand {
    static let configuration = CheckArguments.configuration

    @OptionGroup var arguments: CheckArguments

    func run() async throws {
        let options = try CheckOptions(arguments)
        let interval = try arguments.interval.value
        let targets = try targets()
        if arguments.explainTraffic { return try explain(targets, options) }
        let output = CheckOutput(arguments, isSingle: targets.count == 1)
        var places: [CheckPlace] = []
        var round = 0
        repeat {
            let next = ContinuousClock.now + interval
            places = try await check(targets, options, output)
            round += 1
            if round != arguments.count { try await Task.sleep(until: next, clock: .continuous) }
        } while round != arguments.count
        let code = CheckPlace.exitCode(of: places, simple: arguments.simple)
        if code != 0 { throw ExitCode(code) }
    }

    /// One round, each target printed as soon as it is known.
    private func check(
        _ targets: [CheckTarget?],
        _ options: CheckOptions,
        _ output: CheckOutput
    ) async throws(ExitMessage) -> [CheckPlace] {
        let out = ProbesOut()
        let progress = CheckProgress(out, targets: targets.count)
        let places = Locked<[CheckPlace]>([])
        do throws(CheckError) {
            try await NetworkCheck.run(targets, options, rate: arguments.rate, out: out) {
                number,
                report in
                progress.clear()
                output.write(report, number)
                progress.count(report)
                places.withLock { $0.append(report.verdict.place) }
            }
            await progress.end()
            return places.withLock(\.self)
        } catch {
            await progress.end()
            throw ExitMessage(error)
        }
    }

    /// What is on the command line, then what is in the file; nil for the internet.
    private func targets() throws(ExitMessage) -> [CheckTarget?] {
        guard let path = arguments.file else { return try Self.targets(arguments.targets) }
        let named = arguments.targets.isEmpty ? [] : try Self.targets(arguments.targets)
        return named + (try targets(in: path))
    }

    /// Nil for the internet, where there are none.
    static func targets(_ texts: [String]) throws(ExitMessage) -> [CheckTarget?] {
        var targets: [CheckTarget?] = []
        for text in texts {
            do throws(CheckInputError) {
                targets.append(try CheckTarget(text))
            } catch {
                throw ExitMessage("\(error)", .usage)
            }
        }
        return targets.isEmpty ? [nil] : targets
    }

    /// A line that is no target ends the command: what is left would decide alone.
    private func targets(in path: String) throws(ExitMessage) -> [CheckTarget] {
        let file = try TargetFile(path: path)
        var targets: [String: CheckTarget] = [:]
        let (texts, bad) = try file.read { text throws(CheckInputError) in
            if targets[text] == nil { targets[text] = try CheckTarget(text) }
        }
        if let last = bad.last {
            for line in bad.dropLast() { StandardError.write("reachability: \(line)") }
            throw ExitMessage("\(last)", .dataError)
        }
        if texts.isEmpty { throw ExitMessage("\(file.name) has no targets", .dataError) }
        return texts.compactMap { targets[$0] }
    }

    private func explain(_ targets: [CheckTarget?], _ options: CheckOptions) throws(ExitMessage) {
        do throws(CheckError) {
            for line in try NetworkCheck.traffic(of: targets, options) {
                if arguments.json {
                    var object = JSONObject()
                    object.add("schema", 1)
                    object.add("receiver", line.receiver)
                    object.add("content", line.content)
                    object.add("packets", line.packets)
                    object.add("kind", "traffic")
                    StandardOutput.write(object.bytes)
                } else {
                    StandardOutput.write(text: line.description)
                }
            }
        } catch {
            throw ExitMessage(error)
        }
    }
}

extension CheckPlace {
    /// Of several targets the nearest place that is broken decides, then what is degraded, then what is not known.
    ///
    /// - Parameter simple: Whether to end as `reachability status` does.
    static func exitCode(of places: [CheckPlace], simple: Bool) -> Int32 {
        let codes = places.map(\.exitCode)
        let code = codes.filter { $0 >= 10 }.min() ?? codes.max() ?? 0
        guard simple else { return code }
        switch code {
        case 0, CheckPlace.degraded.exitCode: return 0
        case CheckPlace.inconclusive.exitCode: return 2
        default: return 1
        }
    }
}

extension ExitMessage {
    init(_ error: CheckError) {
        switch error {
        case .network(let error): self.init(error)
        case .sockets: self.init(error.description, .temporaryFailure)
        }
    }
}
