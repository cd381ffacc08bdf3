import LinuxSupport
package import ReachabilityLedger
package import ReachabilityService

/// The building blocks of pages.
package enum PageParts {
    /// The section on top.
    ///
    /// - Parameters:
    ///   - mark: The mark of a state, which decides colour and sign.
    ///   - text: The text that screen readers read when it changes.
    package static func hero(
        mark: String,
        _ title: HTML,
        saying text: String? = nil,
        when: HTML? = nil,
        lead: HTML? = nil
    ) -> HTML {
        let attribute: HTML? = text.map { " data-say=\"\($0)\"" }
        let moment: HTML? = when.map { " <span class=\"when\">\($0)</span>" }
        return """
            <section class="hero t-\(mark)" data-part="hero">\(Sign.svg(mark: mark, size: "big"))<div>\
            <h1\(attribute)>\(title)\(moment)</h1><p class="lead">\(lead)</p></div></section>
            """
    }

    /// The section on top with one sentence.
    package static func hero(
        _ account: LedgerAccount,
        _ sentence: String,
        when: HTML? = nil,
        lead: HTML? = nil
    ) -> HTML {
        hero(mark: account.rawValue, "\(sentence).", saying: sentence, when: when, lead: lead)
    }

    /// A card with its heading.
    ///
    /// - Parameters:
    ///   - id: The identifier of the heading, and of the card for scripts.
    ///   - attributes: Further attributes of the card.
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

    /// A row of a card.
    package static func row(_ name: HTML, _ content: HTML, state: HTML) -> HTML {
        """
        <div class="row"><div class="name">\(name)</div>\(content)<div class="state">\(state)</div></div>
        """
    }

    /// Names and values. Those without a value are left out.
    package static func facts(_ rows: [(name: String, value: HTML?)]) -> HTML {
        let rows = rows.compactMap { name, value in value.map { "<dt>\(name)</dt><dd>\($0)</dd>" as HTML } }
        return "<dl class=\"facts\">\(rows)</dl>"
    }

    /// Links to other views of the same content.
    package static func tabs(_ links: [(name: String, link: String, isCurrent: Bool)]) -> HTML {
        let links = links.map { link -> HTML in
            let current: HTML = link.isCurrent ? " aria-current=\"true\"" : ""
            return "<a href=\"\(link.link)\"\(current)>\(link.name)</a>"
        }
        return "<span class=\"tabs\">\(links)</span>"
    }

    /// The last line of a page, with the addresses of its content in the API.
    package static func more(_ text: HTML = "", api paths: String...) -> HTML {
        let links = paths.enumerated().map { index, path -> HTML in
            "\(index > 0 ? ", " : "")<a href=\"\(path)\"><code>\(path)</code></a>"
        }
        return "<p class=\"more\">\(text)For programs: \(links)</p>"
    }

    /// A link to the page of a target.
    static func link(to target: String) -> HTML { "<a href=\"\(PageLink.target(target))\"><bdi>\(target)</bdi></a>" }

    /// The share of time up, and the time lost by account.
    static func share(_ availability: Availability) -> HTML {
        let lost = [LedgerAccount.us, .upstream, .them, .maintenance].compactMap { account -> String? in
            let time = availability.duration(account)
            return time > .zero ? "\(StateDescription.name(account)) \(time.units)" : nil
        }
        let text = lost.isEmpty ? "nothing lost" : lost.joined(separator: " · ")
        guard let share = availability.availability else { return "<small>nothing observed</small>" }
        let observed = availability.window - availability.duration(.unknown)
        let part: HTML? =
            availability.duration(.unknown) > .zero ? "<small>observed for \(observed.wholeUnits)</small>" : nil
        return "<span class=\"share\">\(share.shortPercent)\u{a0}%</span><small>\(text)</small>\(part)"
    }

    /// A bar of shares, to scale.
    ///
    /// - Parameter marks: Drawings on top of it.
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

    /// The card of the notifiers, if there are any.
    package static func notifiers(_ all: [NotifierStatus]) -> HTML {
        if all.isEmpty { return "" }
        let rows = all.map { status -> (name: String, value: HTML?) in
            let failure: HTML = status.failure.map { " Last time: \($0)." } ?? ""
            let value: HTML = """
                \(status.way): \(Int(status.delivered)) told, \(status.pending) to be told, \
                \(Int(status.refused)) given up.\(failure)
                """
            return (status.name, value)
        }
        return "\n\(card("told", "Who is told", facts(rows)))"
    }
}

extension Double {
    /// A share as a percentage with three decimal places, rounded down: 100 only if nothing was lost.
    var shortPercent: String { Int64((self * 1e5).rounded(.down)).decimal(places: 3) }
}

/// The sign of a state. Each state has its own shape, so that no information depends on colour alone.
package enum Sign {
    package static func svg(_ account: LedgerAccount, size: String = "small") -> HTML {
        svg(mark: account.rawValue, size: size)
    }

    /// - Parameter mark: The mark of a state: ``ReachabilityLedger/TargetState/mark``.
    static func svg(mark: String, size: String = "small") -> HTML {
        "<svg class=\"sign \(size) c-\(mark)\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><use href=\"#i-\(mark)\"/></svg>"
    }

    static func pill(_ state: TargetState) -> HTML {
        guard state.isDegraded else { return pill(state.account) }
        return "<span class=\"pill t-\(state.mark)\">\(svg(mark: state.mark))degraded</span>"
    }

    /// A word for the state with its sign.
    package static func pill(_ account: LedgerAccount) -> HTML {
        "<span class=\"pill t-\(account.rawValue)\">\(svg(account))\(StateDescription.name(account))</span>"
    }

    /// The attribute with the pattern of a state.
    static func fill(_ mark: String) -> HTML { mark == "up" ? "" : " fill=\"url(#p-\(mark))\"" }

    /// The legend of colours and patterns.
    package static func legend(_ accounts: [LedgerAccount], withDegraded: Bool = false) -> HTML {
        var marks = accounts.map { (mark: $0.rawValue, name: StateDescription.name($0)) }
        if withDegraded { marks.insert((TargetState.degradedMark, "degraded"), at: 1) }
        let items = marks.map { mark, name -> HTML in
            return """
                <li><svg class="swatch" width="20" height="12" aria-hidden="true"><rect class="k-\(mark) \
                \(mark == "up" ? "s-up" : "")" width="20" height="12"\(fill(mark))/></svg>\(name)</li>
                """
        }
        return "<ul class=\"legend\">\(items)</ul>"
    }
}

extension TargetState {
    static let degradedMark = "degraded"

    /// The part of the names of its style classes and drawings: the account, or `degraded`.
    var mark: String { isDegraded ? Self.degradedMark : account.rawValue }
}
