import CommandLineSupport
import LinuxPrimitives
import NetworkReachability

/// The chain of evidence for people: one line for each step, aligned, and what would mend it under the one that is broken.
struct EvidenceText {
    private let evidence: NetworkEvidence

    init(_ evidence: NetworkEvidence) {
        self.evidence = evidence
    }

    /// UTF-8 without line ends.
    var lines: [[UInt8]] {
        evidence.steps.flatMap { step in
            let start = Self.padded(Self.mark(step.state), to: 8)
            let summary = step.summary.printable
            var lines = ["\(coloured(start, step.state))\(Self.padded(step.kind.rawValue, to: 11))\(summary)"]
            if let remedy = step.remedy { lines.append(Self.padded("", to: 19) + "-> \(remedy.printable)") }
            return lines.map { Array($0.utf8) }
        }
    }

    private static func mark(_ state: NetworkEvidence.Step.State) -> String {
        switch state {
        case .ok: "ok"
        case .broken: "broken"
        case .notReached: "-"
        case .informational: "note"
        }
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.utf8.count))
    }

    private func coloured(_ text: String, _ state: NetworkEvidence.Step.State) -> String {
        guard StandardOutput.wantsColour else { return text }
        let colour: String
        switch state {
        case .ok: colour = "32"
        case .broken: colour = evidence.path.status == .unknown ? "33" : "31"
        case .informational, .notReached: return text
        }
        return "\u{1b}[\(colour)m\(text)\u{1b}[0m"
    }
}
