import CommandLineSupport
import LinuxSupport
import NetworkDiagnostics
import NetworkReachability
import ReachabilityChecks

/// How reports are printed. Thread-safe.
final class CheckOutput: Sendable {
    private struct Known {
        let place: CheckPlace
        let since: Timestamp
    }

    private let namespace: String?
    private let isJSON: Bool
    /// Whether there is room for every step.
    private let isDetailed: Bool
    private let isSingle: Bool
    /// How each target was last time, by its number.
    private let known = Locked<[Int: Known]>([:])

    init(_ arguments: CheckArguments, isSingle: Bool) {
        namespace = arguments.namespaceOptions.name
        isJSON = arguments.json
        self.isSingle = isSingle
        isDetailed = isSingle && arguments.count == 1
    }

    func write(_ report: CheckReport, _ number: Int) {
        let since = since(report.verdict.place, number)
        if isJSON {
            // Of many targets those that work need no explanation, which would cost as much as the check.
            let evidence = isSingle || report.verdict.place != .works ? report.kernelEvidence : nil
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

    /// Since when it is as it is.
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
    /// The kernel's own steps up to what the check began with, as `reachability why` has them; the last is its verdict. Sends nothing.
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
