import LinuxSupport
import ReachabilityLedger
import ReachabilityService

/// Which outages a reader has chosen; nil for all.
struct OutageChoice {
    var target: String?
    var attribution: Attribution?
    var cause: OutageCause?
    /// Only those that lasted until some time ago.
    var window: BarWindow.Choice?

    func filter(_ snapshot: MonitoringService.Snapshot) -> OutageFilter {
        var filter = OutageFilter(target: target)
        (filter.attribution, filter.cause) = (attribution, cause)
        filter.from = window.map { snapshot.now - $0.length }
        return filter
    }

    /// Where the page with these is.
    ///
    /// - Parameter after: The last outage of the page before.
    func link(after: String? = nil) -> String {
        let pairs = [
            ("target", target), ("attribution", attribution?.rawValue), ("cause", cause?.rawValue),
            ("window", window?.rawValue), ("after", after),
        ].compactMap { name, value in value.map { "\(name)=\($0.percentEncoded)" } }
        return "/outages" + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }

    /// The same but for one of them.
    func with<Value>(_ path: WritableKeyPath<OutageChoice, Value>, _ value: Value) -> OutageChoice {
        var other = self
        other[keyPath: path] = value
        return other
    }
}

/// The outages, the latest first, page by page, and what they came to.
struct OutagesPage {
    /// How many of them a page has.
    static let limit = 100

    let layout: Layout

    /// - Parameters:
    ///   - sums: Of all that are chosen.
    ///   - outages: The latest first; one more than the page has if there is another page.
    ///   - isFirst: Whether it is the first page.
    init(
        _ snapshot: MonitoringService.Snapshot,
        _ choice: OutageChoice,
        _ sums: [OutageSum],
        _ outages: [Outage],
        isFirst: Bool
    ) {
        let total = sums.reduce(0) { $0 + $1.count }
        let open = sums.reduce(0) { $0 + $1.open }
        let account = outages.first { $0.end == nil }?.deciding(at: snapshot.now).state.account ?? .up
        let count = total == 1 ? "One outage" : "\(total) outages"
        let now = open == 0 ? "none lasts" : open == 1 ? "one lasts" : "\(open) last"
        let chosen = [choice.target, choice.cause?.rawValue ?? choice.attribution?.rawValue].compactMap(\.self)
        let of = chosen.isEmpty ? "" : " of " + chosen.joined(separator: ", ")
        let sentence = total == 0 ? "No outage\(of) so far" : "\(count)\(of), \(now)"
        let page = Array(outages.prefix(Self.limit))
        let older: HTML? =
            outages.count > Self.limit
            ? page.last.map { "<a href=\"\(choice.link(after: $0.id))\">Older</a>. " } : nil
        let newest: HTML? = isFirst ? nil : "<a href=\"\(choice.link())\">The latest</a>. "
        let main: HTML = """
            <section class="hero t-\(account.rawValue)" data-part="hero">\(Sign.svg(account, size: "big"))<div>\
            <h1 data-say="\(sentence)">\(sentence).</h1><p class="lead">An outage is one unbroken time in which a target is not \
            up. The cause is that of its longest part.</p></div></section>
            <h2 id="causes">Where it went wrong \(Self.windows(choice))</h2>
            <section class="card" data-part="causes" aria-labelledby="causes">\(Self.causes(sums, choice))</section>
            <h2 id="list">\(isFirst && older == nil ? "All of them" : "One after the other") \(Self.targets(choice, snapshot))</h2>\(Self.moreTargets(choice, snapshot))
            <section class="card" data-part="list" aria-labelledby="list">\(OutageList(outages: page).html(snapshot))</section>
            <p class="more">\(newest)\(older)<a href="/outages.csv" download>As CSV</a>. For programs: \
            <a href="/v1/outages"><code>/v1/outages</code></a></p>
            """
        layout = Layout(title: sentence, account: account, place: "/outages", main: main)
    }

    /// Links to those of other times.
    private static func windows(_ choice: OutageChoice) -> HTML {
        let choices: [BarWindow.Choice?] = [.day, .week, .month, .year, nil]
        return tabs(choices.map { ($0?.name ?? "all", choice.with(\.window, $0), choice.window == $0) })
    }

    /// Links to those of other targets, where they have room in a line or two.
    private static func targets(_ choice: OutageChoice, _ snapshot: MonitoringService.Snapshot) -> HTML {
        let names = snapshot.books.targets
        guard names.count > 1 else { return "" }
        let shown: [String?] = names.count <= tabLimit ? names : choice.target.map { [$0] } ?? []
        return tabs((shown + [nil]).map { ($0 ?? "all targets", choice.with(\.target, $0), choice.target == $0) })
    }

    /// Links to those of each target, to be opened, where they are too many for a line or two.
    private static func moreTargets(_ choice: OutageChoice, _ snapshot: MonitoringService.Snapshot) -> HTML? {
        let names = snapshot.books.targets
        guard names.count > tabLimit else { return nil }
        return """
            <details class="choose"><summary>Choose one of \(names.count) targets</summary>\
            \(tabs(names.map { ($0, choice.with(\.target, $0), choice.target == $0) }))</details>
            """
    }

    /// The maximum number of targets that are shown beside a heading.
    private static let tabLimit = 12

    private static func tabs(_ links: [(name: String, choice: OutageChoice, isCurrent: Bool)]) -> HTML {
        let links = links.map { link -> HTML in
            let current: HTML = link.isCurrent ? " aria-current=\"true\"" : ""
            return "<a href=\"\(link.choice.link())\"\(current)>\(link.name)</a>"
        }
        return "<span class=\"tabs\">\(links)</span>"
    }

    /// The time lost to each cause, the most first, as bars to the same scale. Each leads to its outages.
    private static func causes(_ sums: [OutageSum], _ choice: OutageChoice) -> HTML {
        let rows = sums.map { (state: TargetState($0.attribution, $0.cause), sum: $0) }
            .sorted { ($1.sum.time, $0.state.description) < ($0.sum.time, $1.state.description) }
        guard let longest = rows.first?.sum.time else { return "<p class=\"empty\">Nothing did.</p>" }
        let items = rows.map { row -> HTML in
            let width = (Double(row.sum.time.nanoseconds) / Double(max(1, longest.nanoseconds))).percentText
            let account = row.state.account.rawValue
            let link = choice.with(\.attribution, row.sum.attribution).with(\.cause, row.sum.cause).link()
            let count = row.sum.count == 1 ? "one outage" : "\(row.sum.count) outages"
            return """
                <div class="row"><div class="name">\(Sign.pill(row.state.account)) <small>\(row.state.description)</small></div>\
                <svg class="thin" height="14" width="100%" aria-hidden="true"><rect class="s-\(account)" width="\(width)%" \
                height="100%" fill="url(#p-\(account))"/></svg>\
                <div class="state"><b>\(row.sum.time.units)</b> <small><a href="\(link)">\(count)</a></small></div></div>
                """
        }
        return "\(items)"
    }
}
