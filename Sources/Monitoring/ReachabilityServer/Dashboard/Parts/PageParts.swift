import LinuxSupport
package import ReachabilityLedger
package import ReachabilityService

/// The building blocks of pages.
package enum PageParts {
    /// Returns the section on top of a page.
    ///
    /// - Parameters:
    ///   - mark: The mark of a state, which determines the colour and the sign.
    ///   - text: The text that screen readers announce when it changes; nil for none.
    ///   - isTagged: True if the title names the responsible party.
    package static func hero(
        mark: String,
        _ title: HTML,
        saying text: String? = nil,
        when: HTML? = nil,
        lead: HTML? = nil,
        isTagged: Bool = true
    ) -> HTML {
        let attribute: HTML? = text.map { " data-say=\"\($0)\"" }
        let moment: HTML? = when.map { " <span class=\"when\">\($0)</span>" }
        return """
            <section class="hero t-\(mark)" data-part="hero">\(Sign.svg(mark: mark, size: "big"))<div>\
            <h1\(attribute)>\(title)\(isTagged ? Sign.tag(mark) : nil)\(moment)</h1><p class="lead">\(lead)</p></div></section>
            """
    }

    /// Returns the section on top of a page with one sentence.
    package static func hero(
        _ account: LedgerAccount,
        _ sentence: String,
        when: HTML? = nil,
        lead: HTML? = nil
    ) -> HTML {
        hero(mark: account.rawValue, "\(sentence).", saying: sentence, when: when, lead: lead)
    }

    /// Returns a card with a heading.
    ///
    /// - Parameters:
    ///   - id: The identifier of the heading, by which scripts also find the card.
    ///   - attributes: Additional attributes of the card.
    package static func card(
        _ id: String,
        _ heading: HTML,
        _ content: HTML,
        class names: String = "card",
        attributes: HTML? = nil
    ) -> HTML {
        """
        <h2 id="\(id)">\(heading)</h2>
        <section class="\(names)" data-part="\(id)" aria-labelledby="\(id)"\(attributes)>\(content)</section>
        """
    }

    /// Returns a row of a card.
    package static func row(_ name: HTML, _ content: HTML, state: HTML) -> HTML {
        """
        <div class="row"><div class="name">\(name)</div>\(content)<div class="state">\(state)</div></div>
        """
    }

    /// Returns a row of a list of targets, sites or machines.
    ///
    /// - Parameters:
    ///   - cells: The cells between the name and the state.
    ///   - since: The duration of the state; nil if it is not known.
    ///   - reason: The reason of the state; nil for none.
    package static func target(
        mark: String,
        _ name: HTML,
        summary: HTML,
        _ cells: HTML = "",
        state: String,
        since: HTML?,
        reason: HTML?
    ) -> HTML {
        """
        <li class="target t-\(mark)">\(Sign.svg(mark: mark))<div>\(name)<small>\(summary)</small></div>\(cells)\
        <div class="state"><p><b>\(state)</b> \(since)</p>\(reason)</div></li>
        """
    }

    /// Returns a list of incidents by day, with links to their pages. The script of the page groups them by days of the reader's time zone.
    package static func incidents(_ rows: [IncidentRow], _ clock: PageClock) -> HTML {
        if rows.isEmpty { return "<p class=\"empty\">No incidents.</p>" }
        var day: Substring = ""
        let items = rows.map { row -> HTML in
            let date = Timestamp(real: row.start).text.prefix(10)
            defer { day = date }
            let heading: HTML? = date == day ? nil : "<li class=\"day\">\(String(date))</li>"
            let names = row.affected.prefix(4).joined(separator: ", ")
            let affected = row.affectedCount > 4 ? "\(names) and \(row.affectedCount - 4) more" : names
            let length: HTML = row.length ?? "<b>ongoing</b>, \(clock.lasting(since: row.start))"
            return """
                \(heading)<li><a href="\(row.link)">\(Sign.svg(mark: row.mark))\(clock.time(row.start, .hour))\
                <span class="what"><b>\(row.sentence)</b><small>\(row.reason ?? "")</small></span>\
                <span class="party">\(row.party)</span><span class="soft"><bdi>\(affected)</bdi></span>\
                <span class="long">\(length)</span></a></li>
                """
        }
        return "<ol class=\"incidents\">\(items)</ol>"
    }

    /// Returns a list of names and values. Entries without a value are omitted.
    package static func facts(_ rows: [(name: String, value: HTML?)]) -> HTML {
        let rows = rows.compactMap { name, value in value.map { "<dt>\(name)</dt><dd>\($0)</dd>" as HTML } }
        return "<dl class=\"facts\">\(rows)</dl>"
    }

    /// Returns links to other views of the same content.
    package static func tabs(_ links: [(name: String, link: String, isCurrent: Bool)]) -> HTML {
        let links = links.map { link -> HTML in
            let current: HTML = link.isCurrent ? " aria-current=\"true\"" : ""
            return "<a href=\"\(link.link)\"\(current)>\(link.name)</a>"
        }
        return "<span class=\"tabs\">\(links)</span>"
    }

    /// Returns the last line of a page, with the paths of its content in the API.
    package static func more(_ text: HTML = "", api paths: String...) -> HTML {
        let links = paths.enumerated().map { index, path -> HTML in
            "\(index > 0 ? ", " : "")<a href=\"\(path)\"><code>\(path)</code></a>"
        }
        return "<p class=\"more\">\(text)API: \(links)</p>"
    }

    /// Returns a link to the page of a target.
    static func link(to target: String) -> HTML { "<a href=\"\(PageLink.target(target))\"><bdi>\(target)</bdi></a>" }

    /// Returns the availability, and the lost time by account.
    static func share(_ availability: Availability) -> HTML {
        let lost = [LedgerAccount.us, .upstream, .them, .maintenance].compactMap { account -> String? in
            let time = availability.duration(account)
            return time > .zero ? "\(StateDescription.name(account)) \(time.units)" : nil
        }
        let text = lost.isEmpty ? "nothing lost" : lost.joined(separator: " · ")
        let isPart = availability.percent != nil && availability.duration(.unknown) * 1000 > availability.window
        let part: HTML? = isPart ? "<small>\(availability.observation)</small>" : nil
        return "\(percent(of: availability))<small>\(text)</small>\(part)"
    }

    /// Returns the availability as a percentage, or the observed time if that is less than half of the window.
    static func percent(of availability: Availability) -> HTML {
        availability.percent.map { "<span class=\"share\">\($0)</span>" }
            ?? "<small>\(availability.observation)</small>"
    }

    /// Returns a bar of shares, to scale.
    ///
    /// - Parameter marks: The drawings on top of the bar.
    package static func shareBar(
        _ shares: [(account: LedgerAccount, share: Double)],
        height: Int,
        label: String,
        marks: [HTML] = []
    ) -> HTML {
        var left = 0.0
        let parts = shares.filter { $0.share > 0 }.map { account, share -> HTML in
            defer { left += share }
            return """
                <rect class="s-\(account.rawValue)" x="\(left.percentText)%" width="\(share.percentText)%" \
                height="100%"\(Sign.fill(account.rawValue))/>
                """
        }
        return """
            <svg class="bar" height="\(height)" width="100%" role="img" aria-label="\(label)">\(parts)\(marks)</svg>
            """
    }

    /// Returns the card of the notifiers; empty without notifiers.
    ///
    /// - Parameter form: Returns the form of a notifier; nil for none.
    package static func notifiers(_ all: [NotifierStatus], form: (NotifierStatus) -> HTML? = { _ in nil }) -> HTML {
        if all.isEmpty { return "" }
        let rows = all.map { status -> (name: String, value: HTML?) in
            let failure: HTML = status.failure.map { " Last error: \($0)." } ?? ""
            let value: HTML = """
                \(status.channel): \(Int(status.delivered)) delivered, \(status.pending) pending, \
                \(Int(status.refused)) given up.\(failure)\(form(status))
                """
            return (status.name, value)
        }
        return "\n\(card("told", "Notifications", facts(rows)))"
    }
}

/// An entry of a list of incidents.
package struct IncidentRow {
    let link: String
    let mark: String
    /// The name of the responsible party; nil if it is not known.
    let party: HTML?
    /// The start, since 1970.
    let start: Duration
    let sentence: String
    let reason: String?
    /// The names of the affected targets or machines, at least the first four.
    let affected: [String]
    let affectedCount: Int
    /// The duration; nil for an ongoing incident.
    let length: HTML?

    package init(
        link: String,
        mark: String,
        party: HTML?,
        start: Duration,
        _ sentence: String,
        reason: String?,
        affected: [String],
        count: Int,
        length: HTML?
    ) {
        (self.link, self.mark, self.party, self.start, self.sentence) = (link, mark, party, start, sentence)
        (self.reason, self.affected, affectedCount, self.length) = (reason, affected, count, length)
    }
}

extension Availability {
    /// The availability as a percentage with its unit; nil if less than half of the window was observed.
    var percent: String? {
        guard duration(.unknown) * 2 <= window else { return nil }
        return availability.map { "\($0.shortPercent)\u{a0}%" }
    }

    /// The observed part of the window, such as `7 min of 24 h observed`.
    fileprivate var observation: String {
        let whole = window == .seconds(86400) ? "24\u{a0}h" : window.wholeUnits
        return "\((window - duration(.unknown)).wholeUnits) of \(whole) observed"
    }
}

extension Double {
    /// The share as a percentage with two decimal places, or three above 99.9. It is rounded down, so that 100 means that no time was lost.
    var shortPercent: String {
        if self == 1 { return "100" }
        let (scale, places) = self >= 0.999 ? (1e5, 3) : (1e4, 2)
        let digits = String(Int64((self * scale).rounded(.down)))
        let padded = String(repeating: "0", count: Swift.max(0, places + 1 - digits.count)) + digits
        return "\(padded.dropLast(places)).\(padded.suffix(places))"
    }
}

/// The signs of states. Each state has its own shape, so that no information depends on colour only.
package enum Sign {
    package static func svg(_ account: LedgerAccount, size: String = "small") -> HTML {
        svg(mark: account.rawValue, size: size)
    }

    /// Returns the sign of a state.
    ///
    /// - Parameter mark: The mark of the state: ``ReachabilityLedger/TargetState/mark``.
    static func svg(mark: String, size: String = "small") -> HTML {
        "<svg class=\"sign \(size) c-\(mark)\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><use href=\"#i-\(mark)\"/></svg>"
    }

    static func pill(_ state: TargetState) -> HTML {
        let tag: HTML? = state.isOutage ? tag(state.mark) : nil
        return "\(pill(state, mark: state.mark))\(tag)"
    }

    /// Returns the word for a state with a sign.
    static func pill(_ state: TargetState, mark: String) -> HTML {
        "<span class=\"pill t-\(mark)\">\(svg(mark: mark))\(StateDescription.word(state))</span>"
    }

    /// Returns the name of the responsible party; nil for a mark that is not an outage.
    package static func tag(_ mark: String) -> HTML? {
        guard let party = Attribution(rawValue: mark), TargetState(party).isOutage else { return nil }
        return " <span class=\"tag\">\(StateDescription.name(TargetState(party).account))</span>"
    }

    /// Returns the name of an account with its sign.
    package static func pill(_ account: LedgerAccount, name: String? = nil) -> HTML {
        "<span class=\"pill t-\(account.rawValue)\">\(svg(account))\(name ?? StateDescription.name(account))</span>"
    }

    /// Returns the attribute that fills a shape with the pattern of a state.
    static func fill(_ mark: String) -> HTML { mark == "up" ? "" : " fill=\"url(#p-\(mark))\"" }

    /// Returns the legend of colours and patterns.
    ///
    /// - Parameters:
    ///   - withSteps: True for the steps of a day's lost share.
    ///   - name: Returns the name of an account.
    package static func legend(
        _ accounts: [LedgerAccount],
        withDegraded: Bool = false,
        withSteps: Bool = false,
        name: (LedgerAccount) -> String = StateDescription.name
    ) -> HTML {
        var marks = accounts.map { (mark: $0.rawValue, step: 4, name: name($0)) }
        if withDegraded { marks.insert((TargetState.degradedMark, 4, "degraded"), at: 1) }
        if withSteps {
            let names = ["lost below 0.1\u{a0}%", "below 1\u{a0}%", "below 10\u{a0}%", "10\u{a0}% or more"]
            marks.insert(contentsOf: names.enumerated().map { ("down", $0 + 1, $1) }, at: 1)
        }
        let items = marks.map { mark, step, name -> HTML in
            let fill: HTML? = mark == "down" ? nil : fill(mark)
            return """
                <li><svg class="swatch" width="20" height="12" aria-hidden="true"><rect class="s-\(mark) l\(step)" width="20" \
                height="12"\(fill)/></svg>\(name)</li>
                """
        }
        return "<ul class=\"legend\">\(items)</ul>"
    }
}

extension TargetState {
    /// The mark of a degraded state.
    static let degradedMark = "degraded"

    /// The mark of the state: the account, or `degraded`. It is part of the names of style classes and drawings.
    var mark: String { isDegraded ? Self.degradedMark : account.rawValue }
}
