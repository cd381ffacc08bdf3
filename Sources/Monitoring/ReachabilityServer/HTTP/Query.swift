package import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

/// An element of a list, as JSON and as a line of text.
package struct Item {
    /// The key that identifies and orders it within its list.
    package let key: String
    package let object: JSONObject
    package let text: String
    /// The whole item as text, which may have several lines.
    package let report: String

    package init(key: String, object: JSONObject, text: String, report: String? = nil) {
        (self.key, self.object, self.text, self.report) = (key, object, text, report ?? text)
    }
}

/// A part of a list.
package struct Page {
    package let items: [Item]
    /// The key of the last item, if there are more pages.
    package let next: String?
    /// The number of items on all pages; nil if it is not counted.
    let total: Int?

    init(_ items: [Item], next: String?) {
        (self.items, self.next, total) = (items, next, nil)
    }

    /// - Parameters:
    ///   - items: The items of the page, and one more if there is another page.
    ///   - total: The number of items on all pages, if known.
    package init(first limit: Int, of items: [Item], total: Int? = nil) {
        self.items = Array(items.prefix(limit))
        next = items.count > limit ? items[limit - 1].key : nil
        self.total = total
    }

    /// Takes a page of a sorted list.
    ///
    /// - Parameter isAfter: Whether an element comes after a key.
    package init<Element>(
        of all: [Element],
        _ query: Query,
        key: (Element) -> String,
        isAfter: (Element, String) -> Bool,
        item: (Element) throws(Problem) -> Item?
    ) throws(Problem) {
        let (limit, after) = (try query.limit, query.after)
        let rest = after.map { after in all.drop { !isAfter($0, after) } } ?? all[...]
        var items: [Item] = []
        for element in rest.prefix(limit) { if let item = try item(element) { items.append(item) } }
        self.items = items
        total = all.count
        next = rest.count > limit ? rest.prefix(limit).last.map(key) : nil
    }

    func bytes(as representation: Representation) -> [UInt8] {
        switch representation {
        case .json:
            var object = JSONObject()
            object.add("items", items.map(\.object))
            object.add("next", next)
            if let total { object.add("total", total) }
            return object.bytes
        case .lines: return items.flatMap { $0.object.bytes + [UInt8(ascii: "\n")] }
        case .text: return items.flatMap { Array(($0.text + "\n").utf8) }
        }
    }
}

/// The value of `state` in lists of outages and of incidents.
package enum OpenState: String, CaseIterable {
    case open, any
}

/// The parameters of a request, and a record of those that the handler knows.
package final class Query {
    package let request: WebRequest
    let placeholders: [String: String]
    private var names: Set<String> = ["limit", "after"]

    /// - Parameter placeholders: The values of the placeholders in the route's path.
    init(_ request: WebRequest, _ placeholders: [String: String] = [:]) {
        (self.request, self.placeholders) = (request, placeholders)
    }

    /// The value of a placeholder in the route's path.
    package subscript(_ placeholder: String) -> String { placeholders[placeholder] ?? "" }

    /// The value of a parameter.
    package func text(_ name: String) -> String? {
        names.insert(name)
        return request.query[name]
    }

    /// The value of a parameter that has a few possible values.
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

    /// The maximum time to wait for an event, at most a minute. Nil to answer immediately.
    package var wait: Duration? {
        get throws(Problem) {
            guard let duration = try duration("wait"), duration > .seconds(60) else { return try duration("wait") }
            throw Problem(.badRequest, "wait is at most 60s")
        }
    }

    /// The value of a parameter that is a time (RFC 3339). A time outside the ledger's calendar is its first or last.
    func instant(_ name: String, _ calendar: Calendar) throws(Problem) -> LedgerInstant? {
        guard let text = text(name) else { return nil }
        guard let real = Timestamp.real(of: text) else {
            let example = "2026-11-21T08:15:30Z"
            throw Problem(.badRequest, "\(name) is a time such as \(example) (RFC 3339), not \"\(text.printable)\"")
        }
        return calendar.instant(atWall: real)
    }

    /// The maximum number of items of a page.
    package var limit: Int {
        get throws(Problem) {
            guard let text = text("limit") else { return 100 }
            guard let limit = Int(text), (1...1000).contains(limit) else {
                throw Problem(.badRequest, "limit is a number from 1 to 1000, not \"\(text.printable)\"")
            }
            return limit
        }
    }

    /// The key of the last item of the previous page.
    package var after: String? { text("after") }

    /// - Throws: ``Problem`` if the client has disconnected, so that a slow answer is not finished.
    func checkClient() throws(Problem) {
        if request.isAbandoned() { throw Problem(.serviceUnavailable, "the client has disconnected") }
    }

    /// - Throws: ``Problem`` for a parameter that the handler does not know, because it may be mistyped.
    package func checkNames() throws(Problem) {
        for name in request.query.keys.sorted() where !names.contains(name) {
            let known = names.sorted().joined(separator: ", ")
            throw Problem(.badRequest, "there is no parameter \"\(name.printable)\", only \(known)")
        }
    }

    /// The address of the next page.
    func link(after key: String) -> String {
        let others = request.query.filter { $0.key != "after" }.sorted { $0.key < $1.key }
        let path = "/" + request.path.map(\.percentEncoded).joined(separator: "/")
        return Self.link(path, others.map { ($0.key, $0.value) } + [("after", key)])
    }

    /// The address of a path with parameters. Those without a value are left out.
    package static func link(_ path: String, _ parameters: [(name: String, value: String?)]) -> String {
        let pairs = parameters.compactMap { name, value in value.map { "\(name.percentEncoded)=\($0.percentEncoded)" } }
        return pairs.isEmpty ? path : path + "?" + pairs.joined(separator: "&")
    }
}

/// The JSON object in the body of a request. Unknown keys are errors.
struct RequestObject {
    private let members: [String: JSONValue]

    /// - Throws: ``Problem`` for a body that is not an object with these keys.
    init(_ request: WebRequest, keys: [String]) throws(Problem) {
        guard case .object(let members)? = JSONValue(request.body) else {
            throw Problem(.badRequest, "the body is a JSON object with the keys \(keys.joined(separator: ", "))")
        }
        for key in members.keys.sorted() where !keys.contains(key) {
            let known = keys.joined(separator: ", ")
            throw Problem(.badRequest, "there is no key \"\(key.printable)\", only \(known)")
        }
        self.members = members
    }

    /// The text of a key; nil if the key is missing or null.
    func text(_ key: String) throws(Problem) -> String? {
        switch members[key] {
        case nil, .null?: return nil
        case .string(let text)?: return text
        default: throw Problem(.badRequest, "\(key) is a text")
        }
    }

    /// The list of texts of a key; nil if the key is missing or null.
    func texts(_ key: String) throws(Problem) -> [String]? {
        let wrong = Problem(.badRequest, "\(key) is a list of texts")
        switch members[key] {
        case nil, .null?: return nil
        case .array(let values)?:
            return try values.map { value throws(Problem) in
                guard case .string(let text) = value else { throw wrong }
                return text
            }
        default: throw wrong
        }
    }
}
