import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

extension API {
    /// Writes a note about an outage. It is in the history soon, and in every answer from now on.
    func note(on id: String, _ request: WebRequest) throws(Problem) -> WebAnswer {
        let text = try RequestObject(request, keys: ["text"]).text("text")
        guard let text, OutageNote.isText(text) else {
            throw Problem(
                .badRequest,
                "text is the note: 1 to \(OutageNote.textLimit) characters, none of them a control character"
            )
        }
        let snapshot = service.snapshot
        let explained = try explained(id, snapshot)
        guard explained.notes.count < OutageNote.countLimit else {
            throw Problem(.conflict, "an outage has \(OutageNote.countLimit) notes at most, and this one has them")
        }
        let note = service.note(text, by: request.author, on: explained.outage)
        var object = JSONObject()
        object.add("schema", 1)
        object.add("outage", note.outage)
        object.add(snapshot.object(of: note))
        object.add("kind", "note")
        let lines = snapshot.lines(of: note).joined(separator: "\n")
        return .one(Item(key: note.outage, object: object, text: "\(note.outage): \(lines)"), request, .created)
    }

    /// What was written about outages, in this run and before: the oldest first.
    func notes(
        on outages: [String],
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [String: [OutageNote]] {
        var found: [String: [OutageNote]] = [:]
        do { found = try history?.store?.notes(on: outages) ?? [:] } catch { throw Self.unreadable(error) }
        for id in outages {
            // What is on the disk already is in memory, too.
            let written = Set(found[id] ?? [])
            found[id, default: []] += snapshot.books.notes(on: id).filter { !written.contains($0) }
        }
        return found
    }
}

extension WebRequest {
    /// Who asks: the name of the user, else its number; the name of the token, or of the certificate.
    var author: String {
        switch way {
        case .local(let user, _): user.map { UserName.of($0) ?? String($0) } ?? ""
        case .loopback: token?.name ?? ""
        case .secured(let certificate): token?.name ?? certificate ?? ""
        }
    }
}

extension MonitoringService.Snapshot {
    func object(of note: OutageNote) -> JSONObject {
        var object = JSONObject()
        object.add("time", time(note.instant))
        object.add("author", note.author)
        object.add("text", note.text)
        return object
    }

    /// For example `2026-11-21T08:15:30.123Z note of root: the cable was bitten`.
    func lines(of note: OutageNote) -> [String] {
        let lines = note.text.split(at: "\n", omittingEmptySubsequences: false).map { String($0).printable }
        let head = "\(time(note.instant).text) note of \(note.author.printable): \(lines[0])"
        return [head] + lines.dropFirst().map { "  " + $0 }
    }
}
