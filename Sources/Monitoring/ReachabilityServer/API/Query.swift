import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

/// What a request asks of a list, and the names that were understood.
package final class Query {
    private let request: WebRequest
    private var names: Set<String> = ["limit", "after"]

    package init(_ request: WebRequest) {
        self.request = request
    }

    /// The value of a name; nil without.
    package func text(_ name: String) -> String? {
        names.insert(name)
        return request.query[name]
    }

    /// One of a few words; nil without.
    package func word<Word: RawRepresentable & CaseIterable>(
        _ name: String,
        _ type: Word.Type
    ) throws(Problem) -> Word? where Word.RawValue == String {
        guard let text = text(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(.badRequest, "\(name) is one of \(words), not \"\(text.printable)\"")
        }
        return word
    }

    package func duration(_ name: String) throws(Problem) -> Duration? {
        guard let text = text(name) else { return nil }
        guard let duration = DurationText.duration(text), duration > .zero else {
            throw Problem(.badRequest, "\(name) is a duration such as 30d, 24h or 90m, not \"\(text.printable)\"")
        }
        guard duration <= DurationText.longest else {
            throw Problem(.badRequest, "\(name) is at most \(DurationText.text(DurationText.longest))")
        }
        return duration
    }

    /// How long to wait for what comes, a minute at most; nil where nobody waits.
    package var wait: Duration? {
        get throws(Problem) {
            guard let duration = try duration("wait"), duration > .seconds(60) else { return try duration("wait") }
            throw Problem(.badRequest, "wait is at most 60s")
        }
    }

    /// A moment as people write it. One before or after the time line is its first or last.
    func instant(_ name: String, _ calendar: Calendar) throws(Problem) -> LedgerInstant? {
        guard let text = text(name) else { return nil }
        guard let real = Timestamp.real(of: text) else {
            let example = "2026-11-21T08:15:30Z"
            throw Problem(.badRequest, "\(name) is a time such as \(example) (RFC 3339), not \"\(text.printable)\"")
        }
        return calendar.instant(atWall: real)
    }

    /// How many items a page has.
    package var limit: Int {
        get throws(Problem) {
            guard let text = text("limit") else { return 100 }
            guard let limit = Int(text), (1...1000).contains(limit) else {
                throw Problem(.badRequest, "limit is a number from 1 to 1000, not \"\(text.printable)\"")
            }
            return limit
        }
    }

    /// The key of the last item of the page before.
    package var after: String? { text("after") }

    /// - Throws: ``Problem`` if the client has disconnected, so that an answer that takes long is not finished.
    func checkClient() throws(Problem) {
        if request.isAbandoned() { throw Problem(.serviceUnavailable, "the client has disconnected") }
    }

    /// - Throws: ``Problem`` for a name that nobody asked about: it may be mistyped.
    package func checkNames() throws(Problem) {
        for name in request.query.keys.sorted() where !names.contains(name) {
            let known = names.sorted().joined(separator: ", ")
            throw Problem(.badRequest, "there is no parameter \"\(name.printable)\" here, only \(known)")
        }
    }

    /// Where the next page is.
    func link(after key: String) -> String {
        let path = "/" + request.path.map(\.percentEncoded).joined(separator: "/")
        let pairs = request.query.filter { $0.key != "after" }.sorted { $0.key < $1.key } + [("after", key)]
        return path + "?" + pairs.map { "\($0.percentEncoded)=\($1.percentEncoded)" }.joined(separator: "&")
    }
}
