import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

/// The URLs of pages.
enum PageLink {
    static func target(_ name: String) -> String { "/targets/\(name.percentEncoded)" }
    static func outage(_ id: String) -> String { "/outages/\(id.percentEncoded)" }
}

extension API {
    /// Returns the route of a page.
    ///
    /// - Parameters:
    ///   - isPublic: True for a page that clients may read without a token.
    ///   - isCached: False for a page whose content can change without an event.
    ///   - make: Makes the page from the current state.
    func page(
        _ path: String,
        isPublic: Bool = false,
        isCached: Bool = true,
        _ make: @escaping @Sendable (Query, MonitoringService.Snapshot) throws(Problem) -> Layout
    ) -> Route {
        let handler: Route.Handler = { query throws(Problem) in
            let snapshot = service.snapshot
            let status = history?.status
            let key = PageCache.Key(query.request)
            let version = PageCache.Version(
                event: snapshot.accounting.lastNumber,
                fault: status?.fault,
                time: snapshot.now
            )
            if isCached, let known = pages.answer(key, version) { return known }
            let layout = try make(query, snapshot)
            if layout.status == .ok { try query.checkNames() }
            let answer = layout.answer(
                snapshot.clock,
                host: HostName.ofMachine ?? "reachability",
                root: query.request.root,
                hasLogin: access.hasAdministrator && !query.request.mayChange,
                version: self.version,
                notice: status.flatMap(Self.notice)
            )
            guard isCached, answer.status == .ok else { return answer }
            let compressed = answer.compressed(for: query.request)
            pages.keep(compressed, key, version)
            return compressed
        }
        return isPublic ? .open(path, on: .disk, handler) : .page(path, on: .disk, handler)
    }

    /// Returns the notice that each page shows while the history cannot be written; nil without a fault.
    private static func notice(of status: HistoryWriter.Status) -> String? {
        guard let fault = status.fault else { return nil }
        let lost = status.lost > 0 ? ", and \(status.lost) were dropped" : ""
        let text = "\(fault.text.prefix(1).uppercased())\(fault.text.dropFirst())"
        return "\(text). \(status.pending) events are kept in memory\(lost)."
    }
}

/// A cache of pages. Thread-safe.
///
/// Each open browser tab fetches its page after each event, so the same page is requested many times. A page is valid until the next event,
/// and for at most a second.
final class PageCache: Sendable {
    struct Key: Hashable {
        private let path: [String]
        private let root: String
        private let query: [String: String]
        private let isCompressed: Bool
        /// A Boolean value that indicates whether the page has forms.
        private let mayChange: Bool

        init(_ request: WebRequest) {
            (path, root, query, isCompressed) = (request.path, request.root, request.query, request.acceptsGzip)
            mayChange = request.mayChange
        }
    }

    /// The version of the state that a page shows.
    struct Version: Equatable {
        /// The number of the last event.
        let event: UInt64
        let fault: HistoryError?
        let time: LedgerInstant

        /// Returns true if a page with this version may be sent instead of a page with another version.
        fileprivate func serves(_ other: Version) -> Bool {
            let age = other.time - time
            return event == other.event && fault == other.fault && age >= .zero && age < PageCache.lifetime
        }
    }

    /// The maximum age of a page.
    private static let lifetime = Duration.seconds(1)
    /// The maximum size of all bodies, in bytes.
    private static let sizeLimit = 4 << 20

    private let pages = Locked<[Key: (version: Version, answer: WebAnswer)]>([:])

    /// Returns a valid cached page; nil without one.
    func answer(_ key: Key, _ version: Version) -> WebAnswer? {
        pages.withLock { pages in
            pages[key].flatMap { $0.version.serves(version) ? $0.answer : nil }
        }
    }

    /// Adds a page to the cache, and removes outdated ones.
    func keep(_ answer: WebAnswer, _ key: Key, _ version: Version) {
        guard answer.body.count <= Self.sizeLimit else { return }
        pages.withLock { pages in
            pages[key] = nil
            pages = pages.filter { $0.value.version.serves(version) }
            let size = pages.values.reduce(0) { $0 + $1.answer.body.count }
            if size + answer.body.count > Self.sizeLimit { pages = [:] }
            pages[key] = (version, answer)
        }
    }
}

// Tables for spreadsheets.

extension API {
    /// Answers with the latest 1,000 outages as CSV.
    func outageSheet(_ query: Query) throws(Problem) -> WebAnswer {
        let snapshot = service.snapshot
        try query.checkNames()
        var csv = CSV([
            "id", "target", "attribution", "cause", "start", "end", "durationMilliseconds",
            "uncertaintyMilliseconds",
        ])
        for explained in try reading({ try reader.outages(limit: 1000, snapshot) }) {
            let outage = explained.outage
            let state = outage.deciding(at: snapshot.now).state
            csv.add([
                outage.id, outage.target, state.attribution.rawValue, state.cause?.rawValue ?? "",
                snapshot.time(outage.start).text, outage.end.map { snapshot.time($0).text } ?? "",
                "\(outage.duration(at: snapshot.now).roundedMilliseconds)", "\(outage.uncertainty.roundedMilliseconds)",
            ])
        }
        return csv.answer(named: "outages.csv")
    }

    /// Answers with the seconds in each state by target and UTC day as CSV. The first day is the one in which the window begins.
    func availabilitySheet(_ query: Query) throws(Problem) -> WebAnswer {
        let snapshot = service.snapshot
        let window = try BarWindow(query, snapshot, since: service.start)
        try query.checkNames()
        let begin = DayCalendar.number(of: window.from, snapshot)
        let from = snapshot.calendar.instant(atWall: .seconds(begin * 86400))
        var csv = CSV(["target", "day"] + LedgerAccount.allCases.map(\.rawValue))
        for target in snapshot.accounting.targets {
            for day in try days(of: target, from: from, snapshot) {
                csv.add(
                    [target, day.name] + LedgerAccount.allCases.map { day.availability.duration($0).decimalSeconds }
                )
            }
        }
        return csv.answer(named: "availability.csv")
    }
}

/// A table in the CSV format.
///
/// Source: RFC 4180.
struct CSV {
    static let contentType = "text/csv; charset=utf-8; header=present"

    private(set) var text: String

    init(_ heads: [String]) { text = Self.line(heads) }

    mutating func add(_ cells: [String]) { text += Self.line(cells) }

    private static func line(_ cells: [String]) -> String { cells.map(\.csvField).joined(separator: ",") + "\r\n" }

    /// Returns an answer with the table as a file to download.
    fileprivate func answer(named name: String) -> WebAnswer {
        var answer = WebAnswer(type: Self.contentType, Array(text.utf8)).unstored
        answer.headers.append(("Content-Disposition", "attachment; filename=\"\(name)\""))
        return answer
    }
}

extension String {
    /// The text as a CSV field, quoted if necessary.
    ///
    /// A text that begins with `=`, `+`, `-` or `@` gets a leading apostrophe, so that spreadsheets do not evaluate it as a formula. The
    /// text is examined by Unicode scalars, because a quotation mark with a combining accent is a different Character.
    var csvField: String {
        let scalars = printable.unicodeScalars
        let lead = scalars.first.map { "=+-@".unicodeScalars.contains($0) } ?? false ? "'" : ""
        guard !lead.isEmpty || scalars.contains(where: { $0 == "\"" || $0 == "," }) else { return String(scalars) }
        return "\"" + lead + scalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }
}
