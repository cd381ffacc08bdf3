import LinuxSupport
import NetworkReachability
package import ReachabilityChecks
package import ReachabilityLedger

/// The result of one check of a target.
package struct CheckFinding: Hashable, Sendable {
    /// The place and the reason of the failure, in the form that the ledger accepts.
    package private(set) var observation: Observation.Check
    /// The confidence of the result: `proven`, `likely` or `suspected`.
    package let confidence: String
    /// A sentence that describes the result. Control characters are escaped.
    package private(set) var sentence: String
    /// The steps of the check from the nearest to the farthest hop, followed by the verdict.
    package private(set) var steps: [EvidenceRecord.Step]
    /// The time that the target took to answer. Nil if it did not answer, or if another host did.
    package let latency: Duration?
    /// The end of the validity of the target's certificate, since 1970; nil without TLS.
    package var certificateEnd: Duration?
    /// A Boolean value that indicates whether a threshold was exceeded. Such a result is made of many checks, so it needs no confirmation.
    package private(set) var isMeasured = false

    package init(
        _ place: String,
        _ reason: String,
        confidence: String = "proven",
        sentence: String,
        steps: [EvidenceRecord.Step] = [],
        latency: Duration? = nil,
        isLocal: Bool = false,
        isTarget: Bool = false
    ) {
        observation = Observation.Check(place: place, reason: reason, isLocal: isLocal, isTarget: isTarget)
        (self.confidence, self.sentence, self.steps, self.latency) = (confidence, sentence, steps, latency)
    }

    /// The party that the result makes responsible; `up` if the target works.
    var attribution: Attribution {
        Attributor.state(of: Observation(path: .reachable, check: observation)).attribution
    }

    /// A Boolean value that indicates whether the target is up.
    package var isGood: Bool { attribution == .up }

    /// A Boolean value that indicates whether the check does not show whether the target is up.
    var isInconclusive: Bool { attribution == .unknown }

    /// A Boolean value that indicates whether the target is up but degraded: it works only partly.
    package var isDegraded: Bool { isGood && observation.place == CheckPlace.degraded.rawValue }

    /// A Boolean value that indicates whether the target limits the rate of checks, so that it must not be checked more often than usual.
    var isRateLimited: Bool { observation.reason == "retryAfter" }

    /// A copy without ``steps``.
    var withoutSteps: CheckFinding {
        var finding = self
        finding.steps = []
        return finding
    }

    /// Returns a copy that is degraded because of measurements.
    func degraded(_ reason: String, _ sentence: String) -> CheckFinding {
        var finding = self
        finding.observation = Observation.Check(place: CheckPlace.degraded.rawValue, reason: reason)
        (finding.sentence, finding.isMeasured) = (sentence, true)
        let verdict = EvidenceRecord.Step(
            kind: "verdict",
            state: "informational",
            summary: "degraded: \(sentence)",
            remedy: nil
        )
        finding.steps = steps.dropLast() + [verdict]
        return finding
    }

    /// Returns a Boolean value that indicates whether two results have the same place and reason.
    func isSame(as other: CheckFinding) -> Bool { observation == other.observation }

    /// Returns a Boolean value that indicates whether two results have the same place and reason, or are both inconclusive.
    func confirms(_ other: CheckFinding) -> Bool { isSame(as: other) || isInconclusive && other.isInconclusive }
}

extension CheckFinding {
    /// Creates the result of a completed check.
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
        // The latency is the sum of the phases of the answered probe. Probes of other hosts do not count.
        let isDegraded = verdict.failurePoint == .degraded
        let answer = verdict.decidingProbes.first {
            $0.outcome == .answered && (!isDegraded || $0.subject == .target)
        }
        let isAnswered = isDegraded || verdict.failurePoint == .works && verdict.reason.rawValue == "targetAnswers"
        let phases = answer.map { $0.phases.values.reduce(Duration.zero, +) }
        self.init(
            verdict.failurePoint.rawValue,
            verdict.reason.rawValue,
            confidence: verdict.confidence.rawValue,
            sentence: verdict.text,
            steps: steps,
            latency: isAnswered ? phases : nil,
            isLocal: report.isNameServiceAtFault,
            isTarget: verdict.decidingProbes.contains { $0.kind == .dns && $0.subject == .target }
        )
        certificateEnd = report.allProbes.lazy.filter(\.isAboutTarget).compactMap(\.certificateEnd).min()
    }

    /// Creates the result of a check that could not be made: inconclusive.
    init(_ error: CheckError) {
        self.init("inconclusive", "notEnoughEvidence", confidence: "suspected", sentence: error.description)
    }

    /// Combines the results of several checks of one target; nil without results.
    ///
    /// The result is the first that exists of: the failure nearest to this machine, an inconclusive result, a degraded result, the success
    /// with the highest latency.
    static func joined(_ findings: [CheckFinding]) -> CheckFinding? {
        func rank(_ finding: CheckFinding) -> Int {
            CheckPlace(rawValue: finding.observation.place)?.distance ?? .max
        }
        guard let nearest = findings.min(by: { rank($0) < rank($1) }) else { return nil }
        var joined = nearest
        if nearest.isGood, !nearest.isDegraded {
            joined = findings.max { ($0.latency ?? .zero) < ($1.latency ?? .zero) } ?? nearest
        }
        joined.certificateEnd = findings.compactMap(\.certificateEnd).min()
        return joined
    }
}

extension CheckReport {
    /// A Boolean value that indicates whether a failure to resolve names is caused by this machine.
    ///
    /// True if all name servers are loopback addresses and do not answer, or if the name service finds no address for a name for which a
    /// DNS server returns one.
    var isNameServiceAtFault: Bool {
        let probes = verdict.decidingProbes
        guard verdict.failurePoint == .dns, !probes.isEmpty else { return false }
        if probes.allSatisfy({ $0.kind == .resolve }) {
            return allProbes.contains { $0.kind == .dns && $0.isAboutTarget && !$0.addresses.isEmpty }
        }
        let servers = probes.filter { $0.kind == .dns }
        let silent: Set<String> = ["serverClosed", "serverSilent"]
        return silent.contains(verdict.reason.rawValue) && !servers.isEmpty
            && servers.allSatisfy { $0.destination?.wire.isLoopback == true }
    }
}

/// The settings of the checks of a target.
package struct CheckSettings: Hashable, Sendable {
    /// One check of a target. The target is up if all its checks succeed.
    package struct Check: Hashable, Sendable {
        /// The address and protocol to check; nil for the network at large.
        package var target: CheckTarget?
        /// The trust policy that the server's certificate must satisfy; nil for the trust store of the system.
        package var policy: TrustPolicy?

        package init(_ target: CheckTarget?, policy: TrustPolicy? = nil) {
            (self.target, self.policy) = (target, policy)
        }
    }

    /// The checks of the target. Never empty.
    package var checks: [Check]
    /// The configured servers that prove internet access.
    package var anchors: [CheckOptions.Anchor] = []
    /// The time from the start of one check to the start of the next while the target is up.
    package var interval: Duration = .seconds(30)
    /// The time from the start of one check to the start of the next while the target is down.
    package var intervalWhenDown: Duration = .seconds(5)
    /// The default of ``intervalWhenDown`` for the network at large.
    package static let intervalOfNetwork = Duration.seconds(10)
    /// The number of consecutive checks that must fail before a target that was up is down.
    package var confirm = 2
    /// The thresholds above which the target is degraded.
    package var thresholds: [Measure: Threshold] = [:]
    /// The bursts that measure loss and jitter; nil for none.
    package var burst: BurstSettings?

    package init(_ checks: [Check]) {
        self.checks = checks
    }
}
