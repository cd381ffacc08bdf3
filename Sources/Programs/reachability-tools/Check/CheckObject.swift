import CommandLineSupport
import LinuxSupport
import NetworkDiagnostics
import NetworkReachability
import ReachabilityChecks

/// A report as one JSON object: the keys of a path, then those of the verdict.
struct CheckObject {
    let report: CheckReport
    /// The kernel's part of the steps; nil to leave it out.
    let evidence: NetworkEvidence?
    /// The name of the network namespace; nil for the current one.
    let namespace: String?
    let since: Timestamp

    /// Schema 1: keys may be added, none is renamed or taken away.
    var bytes: [UInt8] {
        let verdict = report.verdict
        let line = PathLine(target: report.target ?? "internet", namespace: namespace, path: report.path)
        var object = line.object(at: Timestamp(), reason: verdict.reason.rawValue)
        object.add("pathReason", report.path.reason?.rawValue)
        object.add("place", verdict.place.rawValue)
        object.add("confidence", verdict.confidence.rawValue)
        object.add("text", verdict.text)
        object.add("since", since)
        object.add("milliseconds", report.duration.milliseconds)
        object.add("notes", verdict.notes)
        let before = evidence?.steps.dropLast().map(EvidenceObject.object) ?? []
        object.add("steps", before + report.steps.map(Self.object))
        let (probes, deciding) = (report.allProbes, verdict.decidingProbes)
        let objects = probes.map(ProbeObject.object)
        object.add("probes", objects)
        object.add("decidedBy", deciding == probes ? objects : deciding.map(ProbeObject.object))
        object.add("cost", ProbeObject.object(report.cost))
        object.add("kind", "check")
        return object.bytes
    }

    private static func object(_ step: CheckStep) -> JSONObject {
        var object = JSONObject()
        object.add("kind", step.kind.rawValue)
        object.add("state", step.state.rawValue)
        object.add("summary", step.summary)
        return object
    }
}

extension Duration {
    func milliseconds(scale: Int64) -> Int64 {
        components.seconds * 1000 * scale + components.attoseconds / (1_000_000_000_000_000 / scale)
    }
}
