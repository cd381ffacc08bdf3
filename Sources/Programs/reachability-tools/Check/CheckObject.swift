import CommandLineSupport
import LinuxSupport
import NetworkDiagnostics
import NetworkReachability
import ReachabilityChecks

/// A report as a JSON object: the keys of a path, then those of the verdict.
struct CheckObject {
    let report: CheckReport
    /// The kernel's steps; nil to omit them.
    let evidence: NetworkEvidence?
    /// The name of the network namespace; nil for the current one.
    let namespace: String?
    let since: Timestamp

    /// The object in schema 1. Keys may be added; none is renamed or removed.
    var bytes: [UInt8] {
        let verdict = report.verdict
        let line = PathLine(target: report.target ?? "internet", namespace: namespace, path: report.path)
        var object = line.object(at: Timestamp(), reason: verdict.reason.rawValue)
        object.add("pathReason", report.path.reason?.rawValue)
        object.add("place", verdict.failurePoint.rawValue)
        object.add("confidence", verdict.confidence.rawValue)
        object.add("text", verdict.text)
        object.add("since", since)
        object.add("milliseconds", report.duration.milliseconds)
        object.add("notes", verdict.notes)
        let before = evidence?.steps.dropLast().map(EvidenceObject.step) ?? []
        let steps = report.steps.map { EvidenceObject.step($0.kind.rawValue, $0.state.rawValue, $0.summary) }
        object.add("steps", before + steps)
        let (probes, deciding) = (report.allProbes, verdict.decidingProbes)
        let objects = probes.map(ProbeObject.object)
        object.add("probes", objects)
        object.add("decidedBy", deciding == probes ? objects : deciding.map(ProbeObject.object))
        object.add("cost", ProbeObject.object(report.cost))
        object.add("kind", "check")
        return object.bytes
    }
}

/// A probe as a JSON object of schema 1. Keys may be added; none is renamed or removed. A value without an observation has no key.
enum ProbeObject {
    static func object(_ probe: CheckProbe) -> JSONObject {
        var object = JSONObject()
        object.add("probe", probe.kind.rawValue)
        object.add("subject", probe.subject.name)
        object.add("family", probe.family.rawValue)
        object.add("destination", probe.destination?.description)
        object.add("port", optional: probe.port)
        object.add("outcome", probe.outcome.rawValue)
        object.add("reason", probe.reason?.rawValue)
        if let error = probe.error { object.add("icmp", Self.object(error)) }
        object.add("failedPhase", probe.failedPhase?.rawValue)
        object.add("phases", phases(of: probe))
        object.add("roundTripMicroseconds", optional: probe.roundTrip.map { $0.nanoseconds / 1000 })
        object.add("speaker", probe.icmpSource?.description)
        if let facts = probe.neighbour {
            object.add("neighbour", [facts.before.rawValue, facts.after.rawValue])
        }
        addNames(of: probe, to: &object)
        addWeb(of: probe, to: &object)
        addWay(of: probe, to: &object)
        object.add("cost", Self.object(probe.cost))
        return object
    }

    static func object(_ cost: ProbeCost) -> JSONObject {
        var object = JSONObject()
        object.add("packets", cost.packets)
        object.add("bytes", cost.bytes)
        return object
    }

    private static func addNames(of probe: CheckProbe, to object: inout JSONObject) {
        if let code = probe.responseCode {
            object.add("rcode", code)
            object.add("addresses", probe.addresses.map(\.description))
            if !probe.records.isEmpty { object.add("records", probe.records) }
            if !probe.extendedErrors.isEmpty { object.add("extendedErrors", probe.extendedErrors.map { "\($0)" }) }
        } else if !probe.addresses.isEmpty {
            object.add("addresses", probe.addresses.map(\.description))
        }
    }

    private static func addWeb(of probe: CheckProbe, to object: inout JSONObject) {
        if let isVerified = probe.isVerified {
            object.add("verified", isVerified)
            if probe.sshIdentification == nil { object.add("issuer", probe.issuer) }
            if let version = probe.tlsVersion { object.add("tlsVersion", version) }
            if let name = probe.applicationProtocol { object.add("alpn", name) }
            if let days = probe.certificateDays { object.add("certificateDays", days) }
        }
        if let identification = probe.sshIdentification {
            object.add("identification", identification)
            if let key = probe.hostKey { object.add("hostKey", key) }
        }
        if let stratum = probe.stratum { object.add("stratum", stratum) }
        if let status = probe.status {
            object.add("status", status)
            object.add("location", probe.location)
            if let url = probe.finalURL { object.add("finalURL", url) }
            if let isAnswered = probe.isChallengeAnswered { object.add("challengeAnswered", isAnswered) }
        }
        if let offset = probe.clockOffset { object.add("clockOffsetMilliseconds", offset.milliseconds) }
        if let isCaptive = probe.isCaptive { object.add("captive", isCaptive) }
    }

    private static func addWay(of probe: CheckProbe, to object: inout JSONObject) {
        if let count = probe.retransmits { object.add("retransmits", count) }
        if let count = probe.lost { object.add("lost", count) }
        if let bytes = probe.pathMTU { object.add("pathMTU", bytes) }
        if let limit = probe.replyHopLimit { object.add("replyHopLimit", limit) }
    }

    private static func object(_ error: CheckProbe.Error) -> JSONObject {
        var object = JSONObject()
        object.add("sender", error.sender.description)
        object.add("type", error.type)
        object.add("code", error.code)
        if let bytes = error.nextHopMTU { object.add("nextHopMTU", bytes) }
        return object
    }

    /// Returns the durations of the completed phases, in microseconds.
    private static func phases(of probe: CheckProbe) -> JSONObject {
        var object = JSONObject()
        for phase in ProbePhase.allCases {
            if let time = probe.phases[phase] {
                object.add("\(phase.rawValue)Microseconds", time.nanoseconds / 1000)
            }
        }
        return object
    }
}

extension ProbeSubject {
    /// The subject as a value in JSON.
    fileprivate var name: String {
        switch self {
        case .line: "line"
        case .server(_, .known): "server"
        case .server(_, .invented): "server, a name that does not exist"
        case .server(_, .target): "server, the target's name"
        case .server(_, .expected(let name)): "server, \(name)"
        case .anchor(let host): "anchor \(host)"
        case .target: "target"
        case .unassigned: "unassigned address"
        case .inventedAddress: "invented address"
        case .portal: "portal"
        }
    }
}
