import LinuxSupport

/// Reads the keys of one table, and collects what is wrong with them; a key that nobody asked for is wrong, too.
final class TableReader {
    /// Where problems are collected, for all tables of a document.
    final class Findings {
        var problems: [ConfigurationProblem] = []
    }

    let path: String
    private let nodes: [String: TOMLNode]
    private let findings: Findings
    private var asked: Set<String> = []

    init(_ nodes: [String: TOMLNode], path: String, _ findings: Findings) {
        (self.nodes, self.path, self.findings) = (nodes, path, findings)
    }

    func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    func complain(_ key: String?, _ text: String) {
        findings.problems.append(ConfigurationProblem(path: key.map { path(of: $0) } ?? path, text: text))
    }

    func has(_ key: String) -> Bool { nodes[key] != nil }

    // MARK: Values

    func text(_ key: String) -> String? {
        value(key, "a text") { if case .string(let text) = $0 { text } else { nil } }
    }

    func flag(_ key: String) -> Bool? {
        value(key, "true or false") { if case .boolean(let flag) = $0 { flag } else { nil } }
    }

    func integer(_ key: String, _ range: ClosedRange<Int>) -> Int? {
        guard let number = value(key, "a whole number", { if case .integer(let number) = $0 { number } else { nil } })
        else { return nil }
        guard range.contains(number) else {
            complain(key, "it is from \(range.lowerBound) to \(range.upperBound), not \(number)")
            return nil
        }
        return number
    }

    func duration(_ key: String, atLeast: Duration) -> Duration? {
        guard let text = text(key) else { return nil }
        guard let duration = DurationText.duration(text) else {
            complain(key, "it is a duration such as 90s, 5m or 400d, not \"\(text)\"")
            return nil
        }
        guard duration >= atLeast else {
            complain(key, "it is at least \(DurationText.text(atLeast)), not \(text)")
            return nil
        }
        guard duration <= DurationText.longest else {
            complain(key, "it is at most \(DurationText.text(DurationText.longest)), not \(text)")
            return nil
        }
        return duration
    }

    /// In bytes.
    func size(_ key: String, atLeast: Int) -> Int? {
        guard let text = text(key) else { return nil }
        guard let size = SizeText.bytes(text) else {
            complain(key, "it is a size such as 500MB or 256MiB, not \"\(text)\"")
            return nil
        }
        guard size >= atLeast else {
            complain(key, "it is at least \(atLeast) bytes, not \(text)")
            return nil
        }
        return size
    }

    func texts(_ key: String) -> [String]? {
        let allowed = "a list of texts"
        guard let list = value(key, allowed, { if case .array(let list) = $0 { list } else { nil } }) else {
            return nil
        }
        var texts: [String] = []
        for (index, node) in list.enumerated() {
            guard case .string(let text) = node else {
                complain("\(key)[\(index + 1)]", "it is a text, not \(node.kind)")
                continue
            }
            texts.append(text)
        }
        return texts
    }

    /// A list of whatever it has: each as it is, and its path below this table.
    func list(_ key: String) -> [(node: TOMLNode, key: String)]? {
        let list = value(key, "a list") { if case .array(let list) = $0 { list } else { nil } }
        return list?.enumerated().map { ($1, "\(key)[\($0 + 1)]") }
    }

    /// A table that is an element of a list.
    func table(_ nodes: [String: TOMLNode], at key: String) -> TableReader {
        TableReader(nodes, path: path(of: key), findings)
    }

    /// A value that may be of several kinds.
    func node(_ key: String) -> TOMLNode? {
        asked.insert(key)
        return nodes[key]
    }

    func table(_ key: String) -> TableReader? {
        guard let table = value(key, "a table", { if case .table(let table) = $0 { table } else { nil } }) else {
            return nil
        }
        return TableReader(table, path: path(of: key), findings)
    }

    /// A list of tables, `[[key]]`.
    func tables(_ key: String) -> [TableReader] {
        let list = value(key, "a list of tables, [[\(key)]]") { if case .array(let list) = $0 { list } else { nil } }
        return (list ?? []).enumerated().compactMap { index, node in
            let path = path(of: "\(key)[\(index + 1)]")
            guard case .table(let table) = node else {
                findings.problems.append(ConfigurationProblem(path: path, text: "it is a table, not \(node.kind)"))
                return nil
            }
            return TableReader(table, path: path, findings)
        }
    }

    private func value<Value>(_ key: String, _ allowed: String, _ convert: (TOMLNode) -> Value?) -> Value? {
        asked.insert(key)
        guard let node = nodes[key] else { return nil }
        if let value = convert(node) { return value }
        complain(key, "it is \(allowed), not \(node.kind)")
        return nil
    }

    /// Complains about a name that is too long, that shows no character, or that paths of addresses cannot contain.
    func check(name: String, atMost limit: Int) {
        if !(1...limit).contains(name.utf8.count) {
            complain("name", "it has from 1 to \(limit) bytes, not \(name.utf8.count)")
        } else if !name.unicodeScalars.contains(where: \.isVisible) {
            complain("name", "it has a visible character")
        } else if name.isPathStep {
            complain("name", "it is not \"\(name)\", which browsers take for a step of a path")
        }
    }

    // MARK: What is too much

    /// Complains of the keys that nobody asked for.
    func finish() {
        for key in nodes.keys.sorted() where !asked.contains(key) {
            let known = asked.sorted()
            if let nearest = Self.nearest(to: key, of: known) {
                complain(key, "there is no such key; did you mean \(nearest)?")
            } else {
                complain(key, "there is no such key; there are \(known.joined(separator: ", "))")
            }
        }
    }

    /// The word of those known that was meant, if one is near enough.
    static func nearest(to word: String, of known: [String]) -> String? {
        known.min { distance($0, word) < distance($1, word) }
            .flatMap { distance($0, word) <= min(2, $0.count / 2) ? $0 : nil }
    }

    /// How many letters have to be put in, left out or replaced (Levenshtein).
    private static func distance(_ one: String, _ other: String) -> Int {
        let other = Array(other)
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var next = [index + 1]
            for (column, otherLetter) in other.enumerated() {
                next.append(min(row[column] + (letter == otherLetter ? 0 : 1), row[column + 1] + 1, next[column] + 1))
            }
            row = next
        }
        return row[other.count]
    }
}

extension Unicode.Scalar {
    /// A Boolean value that indicates whether the character is visible.
    fileprivate var isVisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .unassigned, .surrogate, .privateUse, .spaceSeparator, .lineSeparator,
            .paragraphSeparator:
            false
        default: !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint
        }
    }
}

extension String {
    /// A Boolean value that indicates whether clients of HTTP remove the text from a path (RFC 3986, 5.2.4).
    var isPathStep: Bool { self == "." || self == ".." }
}
