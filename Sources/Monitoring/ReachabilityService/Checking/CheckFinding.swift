import LinuxSupport
import NetworkReachability
package import ReachabilityChecks
package import ReachabilityLedger

/// What one check of a target came to.
package struct CheckFinding: Hashable, Sendable {
    /// Where it breaks and why, as the ledger takes it.
    package let observation: Observation.Check
    /// `proven`, `likely` or `suspected`.
    package let confidence: String
    /// One sentence for people, safe to print.
    package let sentence: String
    /// What was found, near to far, and what it comes to.
    package private(set) var steps: [EvidenceRecord.Step]
    /// How long the target took to answer; nil where it did not, or was not what answered.
    package let latency: Duration?

    package init(
        _ place: String,
        _ reason: String,
        confidence: String = "proven",
        sentence: String,
        steps: [EvidenceRecord.Step] = [],
        latency: Duration? = nil,
        isLocal: Bool = false
    ) {
        observation = Observation.Check(place: place, reason: reason, isLocal: isLocal)
        (self.confidence, self.sentence, self.steps, self.latency) = (confidence, sentence, steps, latency)
    }

    /// Whether the target is up.
    package var isGood: Bool {
        Attributor.state(of: Observation(path: .reachable, check: observation)).attribution == .up
    }

    /// A Boolean value that indicates whether the target is up, but works only in part.
    package var isDegraded: Bool { isGood && observation.place == CheckPlace.degraded.rawValue }

    /// The same for those who want to know what was found, not how.
    var withoutSteps: CheckFinding {
        var finding = self
        finding.steps = []
        return finding
    }

    /// Whether it would be no news after the other.
    func isSame(as other: CheckFinding) -> Bool { observation == other.observation }
}

extension CheckFinding {
    /// What a report says.
    init(_ report: CheckReport) {
        let verdict = report.verdict
        let steps = report.steps.map { step in
            EvidenceRecord.Step(
                kind: step.kind.rawValue,
                state: step.state.rawValue,
                summary: step.summary,
                remedy: nil
            )
        }
        // An answer took the sum of its phases; what else was asked meanwhile is no matter of the target's.
        let isDegraded = verdict.place == .degraded
        let answer = verdict.decidingProbes.first {
            $0.outcome == .answered && (!isDegraded || $0.subject == .target)
        }
        let isAnswered = isDegraded || verdict.place == .works && verdict.reason.rawValue == "targetAnswers"
        let phases = answer.map { $0.phases.values.reduce(Duration.zero, +) }
        self.init(
            verdict.place.rawValue,
            verdict.reason.rawValue,
            confidence: verdict.confidence.rawValue,
            sentence: verdict.text,
            steps: steps,
            latency: isAnswered ? phases : nil,
            isLocal: report.isNameServiceAtFault
        )
    }

    /// Nothing could be checked.
    init(_ error: CheckError) {
        self.init("inconclusive", "notEnoughEvidence", confidence: "suspected", sentence: error.description)
    }

    /// What several checks of one target come to: of those that are broken the nearest, else what is not known, else what is degraded, else
    /// what took longest.
    static func joined(_ findings: [CheckFinding]) -> CheckFinding? {
        func rank(_ finding: CheckFinding) -> Int {
            CheckPlace(rawValue: finding.observation.place)?.distance ?? .max
        }
        guard let nearest = findings.min(by: { rank($0) < rank($1) }) else { return nil }
        guard nearest.isGood, !nearest.isDegraded, findings.count > 1 else { return nearest }
        return findings.max { ($0.latency ?? .zero) < ($1.latency ?? .zero) }
    }
}

extension CheckReport {
    /// Whether names do not resolve because of this machine: its own name servers are dead, or its name service has no address of a name
    /// that a DNS server gives one for.
    var isNameServiceAtFault: Bool {
        let probes = verdict.decidingProbes
        guard verdict.place == .dns, !probes.isEmpty else { return false }
        if probes.allSatisfy({ $0.kind == .resolve }) {
            return allProbes.contains { $0.kind == .dns && $0.isAboutTarget && !$0.addresses.isEmpty }
        }
        let servers = probes.filter { $0.kind == .dns }
        let silent: Set<String> = ["serverClosed", "serverSilent"]
        return silent.contains(verdict.reason.rawValue) && !servers.isEmpty
            && servers.allSatisfy { $0.destination?.wire.isLoopback == true }
    }
}

/// How a target is checked: what is asked of it, how often, and what makes it down.
package struct CheckSettings: Hashable, Sendable {
    /// One question to a target; it is up where all of them are answered as they should be.
    package struct Question: Hashable, Sendable {
        /// What is asked; nil for the network at large.
        package var target: CheckTarget?
        /// What a server must show besides; nil for a valid certificate.
        package var policy: TrustPolicy?

        package init(_ target: CheckTarget?, policy: TrustPolicy? = nil) {
            (self.target, self.policy) = (target, policy)
        }
    }

    /// Never empty.
    package var questions: [Question]
    /// What proves the internet, as the user chose.
    package var anchors: [CheckOptions.Anchor] = []
    /// From the beginning of one check to that of the next, while the target is up.
    package var interval: Duration = .seconds(30)
    /// The same while it is not.
    package var intervalWhenDown: Duration = .seconds(5)
    /// The same of the network at large, unless it is said.
    package static let intervalOfNetwork = Duration.seconds(10)
    /// So many checks in a row must fail before a target that was up is down.
    package var confirm = 2

    package init(_ questions: [Question]) {
        self.questions = questions
    }
}
