import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSupport
import NetworkDiagnostics
import NetworkReachability
import ReachabilityChecks

/// `reachability check`: finds where the network is broken.
struct Check: AsyncParsableCommand {
    static let configuration = CheckArguments.configuration

    @OptionGroup var arguments: CheckArguments

    func run() async throws {
        guard arguments.output == .nagios else { return try await check() }
        do { try await check() } catch let error as any ExitError {
            // A plugin prints its errors, and its exit status 3 stands for unknown.
            StandardOutput.write(text: MonitoringOutput.unknown(error.exitMessage.text))
            throw ExitCode(3)
        }
    }

    private func check() async throws {
        let options = try CheckOptions(arguments)
        let interval = try arguments.interval.value
        let targets = try targets()
        if arguments.explainTraffic { return try explain(targets, options) }
        if let format = arguments.output { return try await write(targets, options, as: format) }
        let output = CheckOutput(arguments, isSingle: targets.count == 1)
        var places: [CheckPlace] = []
        var round = 0
        repeat {
            let next = ContinuousClock.now + interval
            places = try await check(targets, options, output.write)
            round += 1
            if round != arguments.count { try await Task.sleep(until: next, clock: .continuous) }
        } while round != arguments.count
        let code = CheckPlace.exitCode(of: places, simple: arguments.simple)
        if code != 0 { throw ExitCode(code) }
    }

    /// Checks each target once, and prints the results for a monitoring system.
    private func write(_ targets: [CheckTarget?], _ options: CheckOptions, as format: CheckFormat) async throws {
        let results = Locked<[Int: MonitoringOutput.Result]>([:])
        let places = try await check(targets, options) { report, number in
            results.withLock { $0[number] = .init(report) }
        }
        let output = MonitoringOutput(results: results.withLock { $0.sorted { $0.key < $1.key }.map(\.value) })
        output.lines(format, now: SystemClock.real).forEach { StandardOutput.write(text: $0) }
        let code = output.exitStatus(format) ?? CheckPlace.exitCode(of: places, simple: false)
        if code != 0 { throw ExitCode(code) }
    }

    /// Checks each target once, and passes on each result as soon as it is known. Returns the places of the verdicts.
    private func check(
        _ targets: [CheckTarget?],
        _ options: CheckOptions,
        _ write: @escaping @Sendable (CheckReport, Int) -> Void
    ) async throws(CheckError) -> [CheckPlace] {
        let out = PendingProbes()
        let progress = CheckProgress(out, targets: targets.count)
        let places = Locked<[CheckPlace]>([])
        do throws(CheckError) {
            try await NetworkCheck.run(targets, options, rate: arguments.rate, out: out) {
                number,
                report in
                progress.clear()
                write(report, number)
                progress.count(report)
                places.withLock { $0.append(report.verdict.failurePoint) }
            }
            await progress.end()
            return places.withLock(\.self)
        } catch {
            await progress.end()
            throw error
        }
    }

    /// Returns the targets of the command line, then those of the file. Nil stands for the internet.
    private func targets() throws -> [CheckTarget?] {
        guard let path = arguments.file else { return try Self.targets(arguments.targets) }
        let named = arguments.targets.isEmpty ? [] : try Self.targets(arguments.targets)
        return named + (try targets(in: path))
    }

    /// Parses targets. Without texts, returns nil for the internet.
    static func targets(_ texts: [String]) throws -> [CheckTarget?] {
        texts.isEmpty ? [nil] : try texts.map { try CheckTarget($0) }
    }

    private func targets(in path: String) throws(ExitMessage) -> [CheckTarget] {
        var targets: [String: CheckTarget] = [:]
        let texts = try TargetFile(path: path).readAll("targets") { text throws(CheckInputError) in
            if targets[text] == nil { targets[text] = try CheckTarget(text) }
        }
        return texts.compactMap { targets[$0] }
    }

    private func explain(_ targets: [CheckTarget?], _ options: CheckOptions) throws(CheckError) {
        for line in try NetworkCheck.traffic(of: targets, options) {
            guard arguments.json else {
                StandardOutput.write(text: line.description)
                continue
            }
            var object = JSONObject()
            object.add("schema", 1)
            object.add("receiver", line.destination)
            object.add("content", line.content)
            object.add("packets", line.packets)
            object.add("kind", "traffic")
            StandardOutput.write(object.bytes)
        }
    }
}

extension CheckPlace {
    /// Returns the exit status for several targets: the nearest broken place decides, then a degraded target, then an inconclusive one.
    ///
    /// - Parameter simple: Whether to use the exit statuses of `reachability status`.
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

extension CheckError: ExitError {
    var exitMessage: ExitMessage {
        if case .network(let error) = self { return error.exitMessage }
        return ExitMessage(description, .temporaryFailure)
    }
}

extension CheckInputError: ExitError {
    var exitMessage: ExitMessage { ExitMessage("\(self)", .usage) }
}

/// Shows on a terminal the probes without a response so far. Thread-safe.
final class CheckProgress: Sendable {
    private struct State {
        var done = 0
        var broken = 0
    }

    private let state = Locked(State())
    private let task: Task<Void, Never>?

    /// - Parameters:
    ///   - out: The probes that wait for a response.
    ///   - targets: The number of targets.
    init(_ out: PendingProbes, targets: Int) {
        guard StandardError.isTerminal else {
            task = nil
            return
        }
        task = Task { [state] in
            let begun = ContinuousClock.now
            while true {
                do { try await Task.sleep(for: .milliseconds(250)) } catch { return }
                let tenths = (ContinuousClock.now - begun).milliseconds / 100
                let time = "\(tenths / 10).\(tenths % 10) s"
                let (done, broken) = state.withLock { ($0.done, $0.broken) }
                if targets > 1 {
                    StandardError.showProgress("\(done) of \(targets) checked, \(broken) broken, \(time)")
                } else {
                    StandardError.showProgress("\(time), waiting for \(out.names.joined(separator: ", "))")
                }
            }
        }
    }

    /// Counts the report of one target.
    func count(_ report: CheckReport) {
        state.withLock { state in
            state.done += 1
            if report.verdict.failurePoint.exitCode >= 10 { state.broken += 1 }
        }
    }

    /// Clears the line. Must be called before other output.
    func clear() {
        StandardError.showProgress("")
    }

    /// Stops the display, and clears its line.
    func end() async {
        guard let task else { return }
        task.cancel()
        await task.value
        StandardError.showProgress("")
    }
}

/// Prints reports. Thread-safe.
final class CheckOutput: Sendable {
    private struct Known {
        let place: CheckPlace
        let since: Timestamp
    }

    private let namespace: String?
    private let isJSON: Bool
    /// Whether all steps are printed, and not only the verdict.
    private let isDetailed: Bool
    private let isSingle: Bool
    /// The last verdict's place for each target, and the time since when it is the same. The keys are the numbers of the targets.
    private let known = Locked<[Int: Known]>([:])

    init(_ arguments: CheckArguments, isSingle: Bool) {
        namespace = arguments.namespaceOptions.name
        isJSON = arguments.json
        self.isSingle = isSingle
        isDetailed = isSingle && arguments.count == 1
    }

    func write(_ report: CheckReport, _ number: Int) {
        let since = since(report.verdict.failurePoint, number)
        if isJSON {
            // For many targets that work, no evidence is computed, because it costs as much as the check.
            let evidence = isSingle || report.verdict.failurePoint != .works ? report.kernelEvidence : nil
            let object = CheckObject(report: report, evidence: evidence, namespace: namespace, since: since)
            StandardOutput.write(object.bytes)
        } else if isDetailed {
            if let evidence = report.kernelEvidence {
                for step in evidence.steps.dropLast() {
                    for line in StepText(step, of: evidence).lines { StandardOutput.write(line) }
                }
            }
            for step in report.steps {
                let text = StepText(StepText.Mark(step.state), step.kind.rawValue, step.summary)
                for line in text.lines { StandardOutput.write(line) }
            }
        } else if let verdict = report.steps.last {
            StandardOutput.write(text: "\(Timestamp().text) \(report.target ?? "internet"): \(verdict.summary)")
        }
    }

    /// Returns the time since when a target has this place.
    private func since(_ place: CheckPlace, _ number: Int) -> Timestamp {
        known.withLock { known in
            if let last = known[number], last.place == place { return last.since }
            let now = Timestamp()
            known[number] = Known(place: place, since: now)
            return now
        }
    }
}

extension CheckReport {
    /// The steps of `reachability why`, which precede those of the check. The last one is the kernel's verdict. No packet is sent.
    var kernelEvidence: NetworkEvidence? {
        guard let address = path.destination, target != nil else {
            return try? NetworkReachabilityManager(options: pathOptions).evidence()
        }
        return try? NetworkReachabilityManager(address: address, options: pathOptions).evidence()
    }
}

extension StepText.Mark {
    fileprivate init(_ state: CheckStep.State) {
        switch state {
        case .ok: self = .ok
        case .broken: self = .broken
        case .notReached: self = .notReached
        case .informational: self = .note
        }
    }
}
