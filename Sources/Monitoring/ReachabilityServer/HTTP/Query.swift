package import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

/// An element of a list, as JSON and as text.
package struct Item {
    /// The key that identifies the item and determines its position in the list.
    package let key: String
    package let object: JSONObject
    /// The item as one line of text.
    package let text: String
    /// The item as text with all details, which may have several lines.
    package let report: String

    package init(key: String, object: JSONObject, text: String, report: String? = nil) {
        (self.key, self.object, self.text, self.report) = (key, object, text, report ?? text)
    }
}

/// One page of a list.
package struct Page {
    package let items: [Item]
    /// The key of the last item; nil for the last page.
    package let next: String?
    /// The number of items on all pages; nil if it is not counted.
    let total: Int?

    init(_ items: [Item], next: String?) {
        (self.items, self.next, total) = (items, next, nil)
    }

    /// Creates a page from its items.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of items of the page.
    ///   - items: The items of the page, and one more if there is another page.
    ///   - total: The number of items on all pages; nil if it is not known.
    package init(first limit: Int, of items: [Item], total: Int? = nil) {
        self.items = Array(items.prefix(limit))
        next = items.count > limit ? items[limit - 1].key : nil
        self.total = total
    }

    /// Creates the page of a sorted list that a request asks for with `limit` and `after`.
    ///
    /// - Parameter isAfter: Returns true if an element follows a key in the list.
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

    /// Returns the page in a representation.
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

/// The value of the parameter `state` in lists of outages and incidents.
package enum OpenState: String, CaseIterable {
    case open, any
}

/// The parameters of a request. It records which ones the handler reads, so that unknown ones can be reported.
package final class Query {
    package let request: WebRequest
    let placeholders: [String: String]
    private var names: Set<String> = ["limit", "after"]

    /// - Parameter placeholders: The values of the placeholders in the route's path.
    init(_ request: WebRequest, _ placeholders: [String: String] = [:]) {
        (self.request, self.placeholders) = (request, placeholders)
    }

    /// Returns the value of a placeholder in the path of the route.
    package subscript(_ placeholder: String) -> String { placeholders[placeholder] ?? "" }

    /// Returns the value of a parameter; nil without it.
    package func text(_ name: String) -> String? {
        names.insert(name)
        return request.query[name]
    }

    /// Returns the value of a parameter that is one of some words; nil without it.
    ///
    /// - Throws: ``Problem`` for another word.
    package func word<Word: RawRepresentable & CaseIterable>(
        _ name: String,
        _ type: Word.Type
    ) throws(Problem) -> Word? where Word.RawValue == String {
        guard let text = text(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(.badRequest, "\(name) must be one of \(words), not \"\(text.printable)\"")
        }
        return word
    }

    /// Returns the value of a parameter that is a duration such as `90m`; nil without it.
    ///
    /// - Throws: ``Problem`` for an invalid duration.
    package func duration(_ name: String) throws(Problem) -> Duration? {
        guard let text = text(name) else { return nil }
        guard let duration = DurationText.duration(text), duration > .zero else {
            throw Problem(.badRequest, "\(name) must be a duration such as 30d, 24h or 90m, not \"\(text.printable)\"")
        }
        guard duration <= DurationText.longest else {
            throw Problem(.badRequest, "\(name) must be at most \(DurationText.text(DurationText.longest))")
        }
        return duration
    }

    /// The value of the parameter `wait`: the maximum time to wait for an event, at most 60 s. Nil answers immediately.
    package var wait: Duration? {
        get throws(Problem) {
            guard let duration = try duration("wait"), duration > .seconds(60) else { return try duration("wait") }
            throw Problem(.badRequest, "wait must be at most 60s")
        }
    }

    /// Returns the value of a parameter that is a time (RFC 3339); nil without it. A time outside the ledger's range becomes its first or
    /// last instant.
    ///
    /// - Throws: ``Problem`` for an invalid time.
    func instant(_ name: String, _ calendar: Calendar) throws(Problem) -> LedgerInstant? {
        guard let text = text(name) else { return nil }
        guard let real = Timestamp.real(of: text) else {
            let example = "2026-11-21T08:15:30Z"
            throw Problem(.badRequest, "\(name) must be a time such as \(example), not \"\(text.printable)\"")
        }
        return calendar.instant(atWall: real)
    }

    /// The value of the parameter `limit`: the maximum number of items of a page, 100 by default.
    package var limit: Int {
        get throws(Problem) {
            guard let text = text("limit") else { return 100 }
            guard let limit = Int(text), (1...1000).contains(limit) else {
                throw Problem(.badRequest, "limit must be a number from 1 to 1000, not \"\(text.printable)\"")
            }
            return limit
        }
    }

    /// The value of the parameter `after`: the key of the last item of the previous page.
    package var after: String? { text("after") }

    /// Checks that the client is still connected, so that a slow answer can be aborted.
    ///
    /// - Throws: ``Problem`` if the client has disconnected.
    func checkClient() throws(Problem) {
        if request.isAbandoned() { throw Problem(.serviceUnavailable, "the client has disconnected") }
    }

    /// Checks that the handler has read all parameters of the request. An unknown one may be mistyped.
    ///
    /// - Throws: ``Problem`` for an unknown parameter.
    package func checkNames() throws(Problem) {
        for name in request.query.keys.sorted() where !names.contains(name) {
            let known = names.sorted().joined(separator: ", ")
            throw Problem(.badRequest, "unknown parameter \"\(name.printable)\"; the known parameters are \(known)")
        }
    }

    /// Returns the relative URL of the page that follows a key.
    func link(after key: String) -> String {
        let others = request.query.filter { $0.key != "after" }.sorted { $0.key < $1.key }
        return Self.link("", others.map { ($0.key, $0.value) } + [("after", key)])
    }

    /// Returns the URL of a path with parameters. Parameters without a value are omitted.
    package static func link(_ path: String, _ parameters: [(name: String, value: String?)]) -> String {
        let pairs = parameters.compactMap { name, value in value.map { "\(name.percentEncoded)=\($0.percentEncoded)" } }
        return pairs.isEmpty ? path : path + "?" + pairs.joined(separator: "&")
    }
}

/// The JSON object in the body of a request.
struct RequestObject {
    private let members: [String: JSONValue]

    /// Parses the body of a request.
    ///
    /// - Throws: ``Problem`` if the body is not a JSON object, or has a key that is not in `keys`.
    init(_ request: WebRequest, keys: [String]) throws(Problem) {
        guard case .object(let members)? = JSONValue(request.body) else {
            throw Problem(.badRequest, "the body must be a JSON object with the keys \(keys.joined(separator: ", "))")
        }
        for key in members.keys.sorted() where !keys.contains(key) {
            let known = keys.joined(separator: ", ")
            throw Problem(.badRequest, "unknown key \"\(key.printable)\"; the known keys are \(known)")
        }
        self.members = members
    }

    /// Returns the string of a key; nil if the key is missing or null.
    func text(_ key: String) throws(Problem) -> String? { try value(key, "a string", \.text) }

    /// Returns the array of strings of a key; nil if the key is missing or null.
    func texts(_ key: String) throws(Problem) -> [String]? {
        try value(key, "an array of strings") { value in
            guard case .array(let values) = value, case let texts = values.compactMap(\.text) else { return nil }
            return texts.count == values.count ? texts : nil
        }
    }

    private func value<Value>(
        _ key: String,
        _ allowed: String,
        _ convert: (JSONValue) -> Value?
    ) throws(Problem) -> Value? {
        guard let member = members[key], member != .null else { return nil }
        if let value = convert(member) { return value }
        throw Problem(.badRequest, "\(key) must be \(allowed)")
    }
}
