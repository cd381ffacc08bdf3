package import LinuxSupport
package import ReachabilityLedger

// The JSON objects of outages, for the API and for notifications.

extension MonitoringService.Snapshot {
    /// Returns the wall clock time of an instant.
    package func time(_ instant: LedgerInstant) -> Timestamp { Timestamp(real: calendar.wall(at: instant)) }

    /// Returns the JSON object of an outage.
    package func object(of explained: ExplainedOutage) -> JSONObject {
        let outage = explained.outage
        let deciding = outage.deciding(at: now)
        var object = JSONObject()
        object.add("schema", 1)
        object.add("id", outage.id)
        object.add("target", outage.target)
        object.add("attribution", deciding.state.attribution.rawValue)
        object.add("cause", deciding.state.cause?.rawValue)
        object.add("reason", deciding.reason)
        object.add("basis", deciding.state.basis.rawValue)
        object.add("start", time(outage.start))
        object.add("end", outage.end.map { time($0).text })
        object.add("ending", outage.ending?.rawValue)
        object.add("durationMilliseconds", outage.duration(at: now).roundedMilliseconds)
        object.add("durationNanoseconds", outage.duration(at: now).nanoseconds)
        object.add("uncertaintyMilliseconds", outage.uncertainty.nanoseconds / 1_000_000)
        object.add("boot", calendar.line(at: outage.start).bootIdentifier)
        object.add(
            "intervals",
            outage.intervals.map { interval in
                var object = self.object(of: interval)
                if let actor = explained.actors[interval.start] { object.add("actor", actor.object) }
                return object
            }
        )
        object.add("evidence", explained.evidence.map { self.object(of: $0, phase: $0.phase(of: outage)) })
        object.add("notes", explained.notes.map { self.object(of: $0) })
        if let actor = explained.actor { object.add("actor", actor.object) } else { object.add("actor", String?.none) }
        object.add("kind", "outage")
        return object
    }

    /// Returns the JSON object of an interval.
    package func object(of interval: LedgerInterval) -> JSONObject {
        var object = JSONObject()
        object.add(interval.state)
        object.add("reason", interval.reason)
        object.add("start", time(interval.start))
        object.add("end", interval.end.map { time($0).text })
        object.add("durationMilliseconds", interval.duration(at: now).roundedMilliseconds)
        object.add("uncertaintyMilliseconds", interval.uncertainty.nanoseconds / 1_000_000)
        return object
    }

    /// Returns the JSON object of evidence.
    ///
    /// - Parameter phase: The phase relative to an outage (``EvidenceRecord/phase(of:)``). If nil, the object has the start of the interval
    ///   instead.
    package func object(of record: EvidenceRecord, phase: String?) -> JSONObject {
        var object = JSONObject()
        if let phase { object.add("phase", phase) } else { object.add("interval", time(record.interval)) }
        object.add("time", time(record.instant))
        object.add(
            "steps",
            record.steps.map { step in
                var object = JSONObject()
                object.add("kind", step.kind)
                object.add("state", step.state)
                object.add("summary", step.summary)
                object.add("remedy", step.remedy)
                return object
            }
        )
        return object
    }

    /// Returns the JSON object of a note.
    package func object(of note: OutageNote) -> JSONObject {
        var object = JSONObject()
        object.add("time", time(note.instant))
        object.add("author", note.author)
        object.add("text", note.text)
        return object
    }
}

extension JSONObject {
    /// Adds the members `state`, `attribution`, `cause` and `basis`.
    package mutating func add(_ state: TargetState) {
        add("state", state.account.rawValue)
        add("attribution", state.attribution.rawValue)
        add("cause", state.cause?.rawValue)
        add("basis", state.basis.rawValue)
    }
}

extension EvidenceRecord {
    /// Returns the phase of the interval relative to an outage: `before`, `during` or `after`.
    package func phase(of outage: Outage) -> String {
        if interval < outage.start { return "before" }
        return outage.end.map { interval >= $0 } ?? false ? "after" : "during"
    }
}
