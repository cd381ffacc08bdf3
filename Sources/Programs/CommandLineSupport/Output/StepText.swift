import LinuxSupport
package import NetworkDiagnostics
import NetworkReachability

/// One link of a chain of evidence for people: a line, and under the one that is broken what would mend it. All lines of a chain are aligned.
package struct StepText {
    /// How it stands.
    package enum Mark {
        case ok, broken, notReached, note
        /// Broken, as far as can be known.
        case unclear
    }

    private let mark: Mark
    private let kind: String
    private let summary: String
    private let remedy: String?

    package init(_ mark: Mark, _ kind: String, _ summary: String, remedy: String? = nil) {
        (self.mark, self.kind, self.summary, self.remedy) = (mark, kind, summary, remedy)
    }

    /// UTF-8 without line ends.
    package var lines: [[UInt8]] {
        let start = Self.padded(word, to: 8)
        var lines = ["\(coloured(start))\(Self.padded(kind, to: 11))\(summary.printable)"]
        if let remedy { lines.append(Self.padded("", to: 19) + "-> \(remedy.printable)") }
        return lines.map { Array($0.utf8) }
    }

    private var word: String {
        switch mark {
        case .ok: "ok"
        case .broken, .unclear: "broken"
        case .notReached: "-"
        case .note: "note"
        }
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.utf8.count))
    }

    private func coloured(_ text: String) -> String {
        guard StandardOutput.wantsColour else { return text }
        let colour: String
        switch mark {
        case .ok: colour = "32"
        case .broken: colour = "31"
        case .unclear: colour = "33"
        case .note, .notReached: return text
        }
        return "\u{1b}[\(colour)m\(text)\u{1b}[0m"
    }
}

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
