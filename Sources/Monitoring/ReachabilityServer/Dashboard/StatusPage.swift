import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

// The public status page, its Atom feed and its badges. They contain names of targets, states and times: no evidence, addresses or causes.

extension API {
    /// The number of days of incidents.
    private static let incidentTime = Duration.seconds(90 * 86400)
    private static let incidentLimit = 20

    /// Returns the settings of the status page.
    ///
    /// - Throws: ``Problem`` without the table `[status-page]`.
    private func publicSettings() throws(Problem) -> StatusPageSettings {
        if let settings = statusPage.withLock(\.self) { return settings }
        throw Problem(.notFound, "there is no status page; add [status-page] to the configuration")
    }

    /// Returns the page with the state of the chosen targets and their latest incidents.
    func publicPage(_ query: Query, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> Layout {
        let settings = try publicSettings()
        let known = settings.targets.compactMap { name in
            snapshot.accounting.accounts[name].map { (name: name, state: $0.ledger.current.state) }
        }
        let down = known.filter(\.state.isOutage)
        let other = known.filter { !$0.state.isOutage && ($0.state.account != .up || $0.state.isDegraded) }
        let sentence =
            !down.isEmpty
            ? "\(down.map(\.name).joined(separator: ", ")) \(down.count == 1 ? "is" : "are") down"
            : other.isEmpty ? "Everything works" : "Nothing is down"
        let mark = !down.isEmpty ? "them" : other.first?.state.mark ?? "up"
        let (window, times) = (BarWindow(.ninetyDays, snapshot), KnownTimes(self, snapshot, of: known.count))
        let groups = settings.groups.enumerated().map { index, group -> HTML in
            let rows = group.targets.compactMap { name -> HTML? in
                guard let state = known.first(where: { $0.name == name })?.state else { return nil }
                let known = times.times(of: name, in: window).withoutParties
                return PageParts.row(
                    "<bdi>\(name)</bdi>",
                    window.strip(known, height: 28, of: settings.targets.count, snapshot),
                    state:
                        "\(Sign.pill(state, mark: state.isOutage ? "them" : state.mark)) \(PageParts.percent(of: known.availability))"
                )
            }
            return PageParts.card("group-\(index)", "\(group.name ?? "Services") <small>90 days</small>", "\(rows)")
        }
        let incidents = publicIncidents(settings, snapshot).map { incident, notes -> HTML in
            let length = snapshot.length(from: incident.start, to: incident.end)
            let notes = notes.map { note -> HTML in
                "<span class=\"soft\">\(snapshot.time(note.instant)) <bdi>\(note.text)</bdi></span>"
            }
            return """
                <li>\(Sign.svg(.them))\(snapshot.time(incident.start))<span>\(incident.publicSentence)</span>\
                <span class="long">\(length)\(incident.end == nil ? ", ongoing" : "")</span>\(notes)</li>
                """
        }
        let list: HTML =
            incidents.isEmpty ? "<p class=\"empty\">No incidents.</p>" : "<ol class=\"steps\">\(incidents)</ol>"
        let note: HTML? = settings.note.map { "<p class=\"lead\">\($0)</p>" }
        let main: HTML = """
            \(PageParts.hero(mark: mark, "\(sentence).", saying: sentence, isTagged: false))\(note)\(groups)
            \(Sign.legend([.up, .them, .unknown, .maintenance]) { $0 == .them ? "down" : StateDescription.name($0) })
            \(PageParts.card("incidents", "Incidents <small>90 days</small>", list))
            <p class="more"><a href="/status/feed">Atom feed</a></p>
            """
        var layout = Layout(title: sentence, account: down.isEmpty ? .up : .them, place: "", places: [], main: main)
        layout.publicName = settings.title
        return layout
    }

    /// Answers with the incidents of the status page as an Atom feed.
    ///
    /// Source: RFC 4287.
    func publicFeed(_ query: Query) throws(Problem) -> WebAnswer {
        let (settings, snapshot) = (try publicSettings(), service.snapshot)
        try query.checkNames()
        let incidents = publicIncidents(settings, snapshot)
        let (title, page) = (settings.title, query.request.url(of: "/status"))
        func change(_ incident: RootCause, _ notes: [(instant: LedgerInstant, text: String)]) -> LedgerInstant {
            ([incident.end ?? incident.start] + notes.map(\.instant)).max() ?? incident.start
        }
        let entries = incidents.map { incident, notes -> HTML in
            let start = snapshot.time(incident.start).text
            let end = incident.end.map { snapshot.time($0).text }
            let length = incident.end.map { " for \(($0 - incident.start).rounded)" } ?? ""
            return """
                <entry><id>urn:reachability:\(incident.first.id)</id><title>\(incident.publicSentence)\(length)</title>\
                <published>\(start)</published><updated>\(snapshot.time(change(incident, notes)).text)</updated><link href="\(page)"/>\
                <content>\((["From \(start) to \(end ?? "now")."] + notes.map { $0.text }).joined(separator: "\n"))</content></entry>
                """
        }
        let updated = snapshot.time(incidents.map { change($0.0, $0.notes) }.max() ?? service.start).text
        let feed: HTML = """
            <?xml version="1.0" encoding="utf-8"?>
            <feed xmlns="http://www.w3.org/2005/Atom"><id>urn:reachability:status:\(title.percentEncoded)</id><title>\(title)</title>\
            <updated>\(updated)</updated><author><name>\(title)</name></author>\
            <link href="\(page)"/><link rel="self" href="\(query.request.url(of: "/status/feed"))"/>\(entries)</feed>
            """
        return WebAnswer(type: "application/atom+xml; charset=utf-8", Array(feed.text.utf8)).tagged(for: query.request)
    }

    /// Answers with a picture of the state of a target and its availability in the last 30 days.
    func badge(_ query: Query) throws(Problem) -> WebAnswer {
        let (settings, snapshot, file) = (try publicSettings(), service.snapshot, query["file"])
        try query.checkNames()
        let name = String(file.dropLast(".svg".count))
        guard file.hasSuffix(".svg"), settings.targets.contains(name), let account = snapshot.accounting.accounts[name]
        else {
            throw Problem(
                .notFound,
                "there is no badge \"\(file.printable)\"; use NAME.svg with a target of the status page"
            )
        }
        let state = account.ledger.current.state
        let window = BarWindow(.month, snapshot)
        let share = KnownTimes(self, snapshot, of: 1).times(of: name, in: window).availability.percent
        let text = [StateDescription.word(state), share].compactMap(\.self).joined(separator: " ")
        let colour =
            state.isOutage ? "#c4203a" : state.isDegraded ? "#a86e00" : state.account == .up ? "#1f7a58" : "#59616a"
        let (left, right) = (name.unicodeScalars.count * 7 + 14, text.unicodeScalars.count * 7 + 14)
        let image: HTML = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(left + right)" height="20" role="img" aria-label="\(name): \(text)">\
            <rect width="\(left + right)" height="20" rx="3" fill="#3b4148"/><path d="M\(left) 0h\(right - 3)a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H\(left)z" \
            fill="\(colour)"/><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">\
            <text x="\(left / 2)" y="14">\(name)</text><text x="\(left + right / 2)" y="14">\(text)</text></g></svg>
            """
        var answer = WebAnswer(type: "image/svg+xml", Array(image.text.utf8))
        answer.headers.append(("Cache-Control", "max-age=60"))
        return answer.tagged(for: query.request)
    }

    /// Returns the latest incidents of the chosen targets, latest first, with their public notes.
    private func publicIncidents(
        _ settings: StatusPageSettings,
        _ snapshot: MonitoringService.Snapshot
    ) -> [(RootCause, notes: [(instant: LedgerInstant, text: String)])] {
        var filter = OutageFilter()
        (filter.targets, filter.from) = (settings.targets, snapshot.now - Self.incidentTime)
        let incidents = incidents(filter, limit: Self.incidentLimit, snapshot).incidents
        guard let prefix = settings.notePrefix else { return incidents.map { ($0, []) } }
        let notes = (try? reader.notes(on: incidents.flatMap { $0.outages.map(\.id) }, snapshot)) ?? [:]
        return incidents.map { incident in
            let own = incident.outages.flatMap { notes[$0.id] ?? [] }.filter { $0.text.hasPrefix(prefix) }
            return (incident, own.map { ($0.instant, String($0.text.dropFirst(prefix.count).drop { $0 == " " })) })
        }
    }
}

extension RootCause {
    /// A sentence without the cause.
    fileprivate var publicSentence: String {
        let names = outages.prefix(5).map(\.target).joined(separator: ", ")
        let rest = outages.count > 5 ? " and \(outages.count - 5) more" : ""
        let verb = outages.count == 1 ? (end == nil ? "is" : "was") : (end == nil ? "are" : "were")
        return "\(names)\(rest) \(verb) down"
    }
}

extension TargetTimes {
    /// A copy in which all outages have the same appearance.
    fileprivate var withoutParties: TargetTimes {
        var times = self
        for index in intervals.indices where intervals[index].state.isOutage {
            times.intervals[index].state = TargetState(.them, basis: intervals[index].state.basis)
        }
        for index in days.indices {
            for account in [LedgerAccount.us, .upstream] {
                times.days[index].times[.them] += times.days[index].times[account]
                times.days[index].times[account] = 0
            }
        }
        return times
    }
}
