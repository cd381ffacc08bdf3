package import NetworkDiagnostics
import NetworkReachability

extension StepText {
    /// A link of the kernel's chain of evidence.
    package init(_ step: NetworkEvidence.Step, of evidence: NetworkEvidence) {
        let mark: Mark =
            switch step.state {
            case .ok: .ok
            case .broken: evidence.path.status == .unknown ? .unclear : .broken
            case .notReached: .notReached
            case .informational: .note
            }
        self.init(mark, step.kind.rawValue, step.summary, remedy: step.remedy)
    }
}
