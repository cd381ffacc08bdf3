import NetworkDiagnostics
import NetworkReachability
import Testing

/// A network and the chain of evidence it must lead to, the same in every world.
struct EvidenceCase: Sendable, CustomTestStringConvertible {
    let name: String
    /// The target; nil for the network at large.
    var host: String?
    var mark: UInt32 = 0
    let changes: [Change]
    let reason: NetworkPath.UnsatisfiedReason?
    /// The steps that hold or are worth knowing, those that are not reached left out.
    let chain: [String]

    var testDescription: String { name }

    /// A chain as lines: mark, kind and summary; the remedy stands behind an arrow.
    static func lines(of evidence: NetworkEvidence) -> [String] {
        evidence.steps.filter { $0.state != .notReached }.map { step in
            "\(step.state == .informational ? "note" : step.state.rawValue) \(step.kind.rawValue): \(step.summary)"
                + (step.remedy.map { " -> \($0)" } ?? "")
        }
    }

    static let all = ways + refusals + linkTroubles + others
}
