import CommandLineSupport
import LinuxPrimitives
import NetworkDiagnostics
import NetworkReachability
import ReachabilityChecks

/// A report as one JSON object: the keys of a path, then those of the verdict.
struct CheckObject {
    let report: CheckReport
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
        let before = report.kernelEvidence?.steps.dropLast().map(EvidenceObject.object) ?? []
        object.add("steps", before + report.steps.map(Self.object))
        object.add("probes", report.probes.map(Self.object))
        object.add("cost", Self.object(report.cost))
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

    private static func object(_ cost: ProbeCost) -> JSONObject {
        var object = JSONObject()
        object.add("packets", cost.packets)
        object.add("bytes", cost.bytes)
        return object
    }

    private static func object(_ result: ProbeResult) -> JSONObject {
        let (request, evidence) = (result.request, result.evidence)
        var object = JSONObject()
        object.add("probe", request.kind.rawValue)
        object.add("subject", request.subject.name)
        object.add("family", request.binding.family == .ipv4 ? "IPv4" : "IPv6")
        object.add("destination", request.destination?.description)
        object.add("port", optional: request.port)
        object.add("outcome", result.outcome.name)
        object.add("reason", result.outcome.reason)
        if case .unreachable(let error) = result.outcome { object.add("icmp", Self.object(error)) }
        object.add("failedPhase", result.failedPhase?.rawValue)
        object.add("phases", phases(of: result))
        object.add("roundTripMicroseconds", optional: evidence.kernelRoundTrip.map { $0.milliseconds(scale: 1000) })
        object.add("speaker", evidence.speaker?.description)
        if let facts = evidence.neighbour {
            object.add("neighbour", [facts.before.rawValue, facts.after.rawValue])
        }
        if let facts = evidence.dns {
            object.add("rcode", facts.code.rawValue)
            object.add("addresses", facts.addresses.map(\.description))
        } else if !evidence.addresses.isEmpty {
            object.add("addresses", evidence.addresses.map(\.description))
        }
        if let facts = evidence.tls {
            object.add("verified", facts.isVerified)
            object.add("issuer", facts.issuer)
        }
        if let facts = evidence.http {
            object.add("status", facts.status)
            object.add("location", facts.location)
        }
        object.add("cost", Self.object(result.cost))
        return object
    }

    private static func object(_ error: ICMPError) -> JSONObject {
        var object = JSONObject()
        object.add("sender", error.sender.description)
        object.add("type", error.type)
        object.add("code", error.code)
        return object
    }

    /// Only those that ended, in milliseconds.
    private static func phases(of result: ProbeResult) -> JSONObject {
        var object = JSONObject()
        for phase in ProbePhase.allCases {
            if let time = result.phases[phase] {
                object.add("\(phase.rawValue)Microseconds", time.milliseconds(scale: 1000))
            }
        }
        return object
    }
}

extension Duration {
    /// Rounded down.
    var milliseconds: Int64 { milliseconds(scale: 1) }

    func milliseconds(scale: Int64) -> Int64 {
        components.seconds * 1000 * scale + components.attoseconds / (1_000_000_000_000_000 / scale)
    }
}

extension ProbeSubject {
    /// As JSON output has it.
    fileprivate var name: String {
        switch self {
        case .line: "line"
        case .server(_, .known): "server"
        case .server(_, .invented): "server, a name that nobody has"
        case .server(_, .target): "server, the target's name"
        case .server(_, .expected(let name)): "server, \(name)"
        case .anchor(let host): "anchor \(host)"
        case .target: "target"
        case .nobody: "nobody"
        case .lure: "lure"
        case .portal: "portal"
        }
    }
}

extension ProbeOutcome {
    /// As JSON output has it.
    fileprivate var name: String {
        switch self {
        case .answered: "answered"
        case .refused: "refused"
        case .unreachable: "unreachable"
        case .blockedHere: "blockedHere"
        case .silent: "silent"
        case .invalid: "invalid"
        case .skipped: "skipped"
        case .cancelled: "cancelled"
        }
    }

    fileprivate var reason: String? {
        switch self {
        case .unreachable(let error): error.reason.rawValue
        case .invalid(let reason): reason.rawValue
        case .skipped(let reason): reason.rawValue
        default: nil
        }
    }
}
