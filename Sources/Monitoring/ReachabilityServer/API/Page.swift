package import LinuxSupport

/// Something that is told, as JSON and as a line for people.
package struct Item {
    /// What tells it from others of its list, in whose order it is.
    package let key: String
    package let object: JSONObject
    package let text: String
    /// All of it for people, in several lines; the same line where there is no more.
    package let report: String

    package init(key: String, object: JSONObject, text: String, report: String? = nil) {
        (self.key, self.object, self.text, self.report) = (key, object, text, report ?? text)
    }
}

/// A part of a list.
package struct Page {
    package let items: [Item]
    /// The key of its last item, if there are more.
    package let next: String?

    package init(_ items: [Item], next: String?) {
        (self.items, self.next) = (items, next)
    }

    /// Cuts a page out of a list.
    ///
    /// - Parameters:
    ///   - all: In their order.
    ///   - isAfter: Whether an element comes after a key, in that order.
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
        next = rest.count > limit ? rest.prefix(limit).last.map(key) : nil
    }

    func bytes(as representation: Representation) -> [UInt8] {
        switch representation {
        case .json:
            var object = JSONObject()
            object.add("items", items.map(\.object))
            object.add("next", next)
            return object.bytes
        case .lines: return items.flatMap { $0.object.bytes + [UInt8(ascii: "\n")] }
        case .text: return items.flatMap { Array(($0.text + "\n").utf8) }
        }
    }
}
