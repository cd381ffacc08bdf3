import ReachabilityService

/// What people wrote about an outage; nothing where nobody did.
enum NotePart {
    static func html(_ notes: [OutageNote], _ snapshot: MonitoringService.Snapshot) -> HTML {
        if notes.isEmpty { return "<div data-part=\"notes\"></div>" }
        let items = notes.map { note -> HTML in
            let lines = note.text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> HTML in
                "<bdi>\(String(line))</bdi><br>"
            }
            return """
                <li><b><bdi>\(note.author)</bdi></b> \(snapshot.time(note.instant)) <span class="said">\(lines)</span></li>
                """
        }
        return """
            <div data-part="notes"><h2 id="notes">Notes</h2>
            <section class="card" aria-labelledby="notes"><ul class="chain">\(items)</ul></section></div>
            """
    }
}
