import LinuxSupport
import TOMLKit

/// A reader for the keys of one TOML table that collects problems. Each reading method returns nil if the key is missing or its value is
/// invalid.
final class TableReader {
    /// The problems of all tables of a document.
    final class Findings {
        var problems: [ConfigurationProblem] = []
    }

    let path: String
    private let nodes: [String: TOMLNode]
    private let findings: Findings
    private var readKeys: Set<String> = []

    init(_ nodes: [String: TOMLNode], path: String, _ findings: Findings) {
        (self.nodes, self.path, self.findings) = (nodes, path, findings)
    }

    func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// Records a problem of a key; nil for the table itself.
    func report(_ key: String?, _ text: String) {
        findings.problems.append(ConfigurationProblem(path: key.map { path(of: $0) } ?? path, text: text))
    }

    func has(_ key: String) -> Bool { nodes[key] != nil }

    // MARK: Values

    func text(_ key: String) -> String? {
        value(key, "a string") { if case .string(let text) = $0 { text } else { nil } }
    }

    /// Reads a text that may be a secret: a string, or `{ file = "PATH" }`.
    func secret(_ key: String) -> String? {
        guard case .table? = nodes[key], let table = table(key) else { return text(key) }
        defer { table.finish() }
        guard let file = table.text("file") else {
            if !table.has("file") { table.report("file", "missing") }
            return nil
        }
        do throws(DeliveryFailure) { return try SecretFile.text(file) } catch {
            table.report("file", error.text)
            return nil
        }
    }

    /// Reads a text of 1 to `limit` characters.
    func text(_ key: String, atMost limit: Int) -> String? {
        let text = text(key)
        if let text, !(1...limit).contains(text.unicodeScalars.count) {
            report(key, "must have 1 to \(limit) characters, not \(text.unicodeScalars.count)")
        }
        return text
    }

    func flag(_ key: String) -> Bool? {
        value(key, "true or false") { if case .boolean(let flag) = $0 { flag } else { nil } }
    }

    func integer(_ key: String, _ range: ClosedRange<Int>) -> Int? {
        guard let number = value(key, "an integer", { if case .integer(let number) = $0 { number } else { nil } })
        else { return nil }
        guard range.contains(number) else {
            report(key, "must be from \(range.lowerBound) to \(range.upperBound), not \(number)")
            return nil
        }
        return number
    }

    func duration(_ key: String, atLeast: Duration) -> Duration? {
        guard let text = text(key) else { return nil }
        guard let duration = DurationText.duration(text) else {
            report(key, "must be a duration such as 90s, 5m or 400d, not \"\(text)\"")
            return nil
        }
        guard duration >= atLeast else {
            report(key, "must be at least \(DurationText.text(atLeast)), not \(text)")
            return nil
        }
        guard duration <= DurationText.longest else {
            report(key, "must be at most \(DurationText.text(DurationText.longest)), not \(text)")
            return nil
        }
        return duration
    }

    /// Reads a size with a unit, and returns it in bytes.
    func size(_ key: String, atLeast: Int) -> Int? {
        guard let text = text(key) else { return nil }
        guard let size = SizeText.bytes(text) else {
            report(key, "must be a size such as 500MB or 256MiB, not \"\(text)\"")
            return nil
        }
        guard size >= atLeast else {
            report(key, "must be at least \(atLeast) bytes, not \(text)")
            return nil
        }
        return size
    }

    func texts(_ key: String) -> [String]? {
        let allowed = "an array of strings"
        guard let list = value(key, allowed, { if case .array(let list) = $0 { list } else { nil } }) else {
            return nil
        }
        var texts: [String] = []
        for (index, node) in list.enumerated() {
            guard case .string(let text) = node else {
                report("\(key)[\(index + 1)]", "must be a string, not \(node.kind)")
                continue
            }
            texts.append(text)
        }
        return texts
    }

    /// Reads an array of values of any type. Returns each with its path in the table.
    func list(_ key: String) -> [(node: TOMLNode, key: String)]? {
        let list = value(key, "an array") { if case .array(let list) = $0 { list } else { nil } }
        return list?.enumerated().map { ($1, "\(key)[\($0 + 1)]") }
    }

    /// Returns a reader for a table that is an element of an array.
    func table(_ nodes: [String: TOMLNode], at key: String) -> TableReader {
        TableReader(nodes, path: path(of: key), findings)
    }

    /// Reads a value of any type.
    func node(_ key: String) -> TOMLNode? {
        readKeys.insert(key)
        return nodes[key]
    }

    func table(_ key: String) -> TableReader? {
        guard let table = value(key, "a table", { if case .table(let table) = $0 { table } else { nil } }) else {
            return nil
        }
        return TableReader(table, path: path(of: key), findings)
    }

    /// Reads an array of tables, `[[key]]`.
    func tables(_ key: String) -> [TableReader] {
        let list = value(key, "an array of tables, [[\(key)]]") { if case .array(let list) = $0 { list } else { nil } }
        return (list ?? []).enumerated().compactMap { index, node in
            let path = path(of: "\(key)[\(index + 1)]")
            guard case .table(let table) = node else {
                findings.problems.append(ConfigurationProblem(path: path, text: "must be a table, not \(node.kind)"))
                return nil
            }
            return TableReader(table, path: path, findings)
        }
    }

    private func value<Value>(_ key: String, _ allowed: String, _ convert: (TOMLNode) -> Value?) -> Value? {
        readKeys.insert(key)
        guard let node = nodes[key] else { return nil }
        if let value = convert(node) { return value }
        report(key, "must be \(allowed), not \(node.kind)")
        return nil
    }

    /// Checks that a name has an allowed length and a visible character, and that it can be a path segment of a URL.
    func check(name: String, atMost limit: Int) {
        if !(1...limit).contains(name.utf8.count) {
            report("name", "must have 1 to \(limit) bytes, not \(name.utf8.count)")
        } else if !name.unicodeScalars.contains(where: \.isVisible) {
            report("name", "must have a visible character")
        } else if name.isPathStep {
            report("name", "must not be \"\(name)\", because browsers treat it as a path segment")
        }
    }

    // MARK: Unknown keys

    /// Records a problem for each key that was not read.
    func finish() {
        for key in nodes.keys.sorted() where !readKeys.contains(key) {
            let known = readKeys.sorted()
            if let nearest = known.nearest(to: key) {
                report(key, "unknown key; did you mean \(nearest)?")
            } else {
                report(key, "unknown key; the known keys are \(known.joined(separator: ", "))")
            }
        }
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
    /// A Boolean value that indicates whether the text is a dot segment, which HTTP clients remove from a path.
    ///
    /// Source: RFC 3986, 5.2.4.
    var isPathStep: Bool { self == "." || self == ".." }
}

/// A value of a TOML document. Only this type uses the TOML parser.
package enum TOMLNode: Hashable, Sendable {
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    case array([TOMLNode])
    case table([String: TOMLNode])
    /// A date or a time. No key accepts one.
    case time

    /// The name of the type in error messages.
    var kind: String {
        switch self {
        case .string: "a string"
        case .integer: "an integer"
        case .number: "a float"
        case .boolean: "true or false"
        case .array: "an array"
        case .table: "a table"
        case .time: "a date or time"
        }
    }

    /// Parses a document.
    ///
    /// - Throws: ``ConfigurationProblem`` with the line and column of invalid TOML.
    static func parse(_ text: String) throws(ConfigurationProblem) -> [String: TOMLNode] {
        if let problem = firstRefusal(in: text) { throw problem }
        do {
            return table(try TOMLTable(string: text))
        } catch let error as TOMLParseError {
            throw ConfigurationProblem(
                line: error.source.begin.line,
                column: error.source.begin.column,
                path: "",
                text: error.description
            )
        } catch {
            throw ConfigurationProblem(path: "", text: "\(error)")
        }
    }

    /// The maximum number of parts of a dotted key.
    private static let partLimit = 16

    /// Returns the first line with a dotted key of more than ``partLimit`` parts; nil without one.
    ///
    /// Each part of a key is a nested table. The parser limits the depth of values but not of keys, and overflows the stack at a few
    /// thousand parts.
    private static func firstRefusal(in text: String) -> ConfigurationProblem? {
        let bytes = Array(text.utf8)
        if let end = bytes.firstIndex(of: 0) { return zero(in: bytes[..<end].count { $0 == UInt8(ascii: "\n") } + 1) }
        var (index, line, dots, isAfterDot) = (0, 1, 0, false)
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"): continue
            case UInt8(ascii: "."):
                // Two dots in a row are not part of a key.
                dots = isAfterDot ? 0 : dots + 1
                if dots >= partLimit {
                    return ConfigurationProblem(line: line, path: "", text: "a key has more than \(partLimit) parts")
                }
                isAfterDot = true
                continue
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let end = endOfString(bytes, from: index - 1)
                if hasZero(bytes[(index - 1)..<end]) { return zero(in: line) }
                line += bytes[index..<end].count { $0 == UInt8(ascii: "\n") }
                index = end
            case UInt8(ascii: "#"): index = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                break
            case UInt8(ascii: "\n"): (line, dots) = (line + 1, 0)
            default: dots = 0
            }
            isAfterDot = false
        }
        return nil
    }

    private static func zero(in line: Int) -> ConfigurationProblem {
        ConfigurationProblem(line: line, path: "", text: "a zero byte is not permitted")
    }

    /// Returns whether a string contains a zero byte as `\u0000`.
    private static func hasZero(_ string: ArraySlice<UInt8>) -> Bool {
        guard string.first == UInt8(ascii: "\"") else { return false }
        var rest = string.drop { $0 != UInt8(ascii: "\\") }
        while !rest.isEmpty {
            if ["\\u0000", "\\U00000000"].contains(where: { rest.starts(with: $0.utf8) }) { return true }
            rest = rest.dropFirst(2).drop { $0 != UInt8(ascii: "\\") }
        }
        return false
    }

    /// Returns the end of a string that begins with a quote, or with three for several lines. A string of one line ends with the line at
    /// the latest.
    private static func endOfString(_ bytes: [UInt8], from start: Int) -> Int {
        let quote = bytes[start]
        func quotes(at index: Int, _ limit: Int) -> Int { bytes[index...].prefix(limit).prefix { $0 == quote }.count }
        let opening = quotes(at: start, 3)
        // An empty string.
        if opening == 2 { return start + 2 }
        var index = start + opening
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\n") where opening == 1: return index
            case UInt8(ascii: "\\") where quote == UInt8(ascii: "\""): index += 2
            case quote:
                // The text may end with two quotes of its own.
                let count = quotes(at: index, opening == 1 ? 1 : 5)
                index += count
                if count >= opening { return index }
            default: index += 1
            }
        }
        return bytes.count
    }

    private static func table(_ table: TOMLTable) -> [String: TOMLNode] {
        var nodes: [String: TOMLNode] = [:]
        for key in table.keys {
            if let value = table[key] { nodes[key] = node(value) }
        }
        return nodes
    }

    private static func node(_ value: any TOMLValueConvertible) -> TOMLNode {
        switch value.type {
        case .string: .string(value.string ?? "")
        case .int: .integer(value.int ?? 0)
        case .double: .number(value.double ?? 0)
        case .bool: .boolean(value.bool ?? false)
        case .array: .array((value.array.map { Array($0) } ?? []).map { node($0) })
        case .table: .table(value.table.map { table($0) } ?? [:])
        case .date, .time, .dateTime: .time
        }
    }
}

/// The line numbers of the keys of a document. Only the beginnings of lines are analyzed.
struct KeyLines: Hashable, Sendable {
    private var lines: [String: Int] = [:]

    init(_ text: String) {
        var prefix = ""
        var counts: [String: Int] = [:]
        for (index, line) in text.split(at: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.drop { $0 == " " || $0 == "\t" }
            if line.hasPrefix("[[") {
                let name = Self.name(line.dropFirst(2))
                counts[name, default: 0] += 1
                prefix = "\(name)[\(counts[name, default: 1])]"
                lines[prefix] = index + 1
            } else if line.hasPrefix("[") {
                prefix = Self.name(line.dropFirst())
                lines[prefix] = index + 1
            } else if let equals = line.unicodeScalars.firstIndex(of: "="), !line.hasPrefix("#") {
                let key = Self.name(line[..<equals])
                let path = prefix.isEmpty ? key : "\(prefix).\(key)"
                if lines[path] == nil { lines[path] = index + 1 }
            }
        }
    }

    /// Returns the line of a key, counted from 1; nil if it is unknown.
    subscript(path: String) -> Int? { lines[path] }

    /// Returns the line of a key. If it is unknown, returns that of the first table with this name or of the enclosing table.
    func nearest(to path: String) -> Int? {
        var path = path[...]
        while true {
            if let line = lines[String(path)] ?? lines["\(path)[1]"] { return line }
            guard let end = path.unicodeScalars.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
            path = path[..<end]
        }
    }

    private static func name(_ text: Substring) -> String {
        String(text.prefix { $0 != "]" }).filter { $0 != " " && $0 != "\t" && $0 != "\"" && $0 != "'" }
    }
}

/// A problem of a configuration file. The text names the value that was found and the allowed values.
package struct ConfigurationProblem: Error, Hashable, Sendable {
    /// The path of the file; nil for the main file.
    package var file: String?
    /// The line, counted from 1; nil if it is not known.
    package var line: Int?
    /// The column, counted from 1; nil if it is not known.
    package var column: Int?
    /// The path of the key in its file, for example `target[2].host`; empty for the whole document.
    package let path: String
    package let text: String

    package init(line: Int? = nil, column: Int? = nil, path: String, text: String) {
        (self.line, self.column, self.path, self.text) = (line, column, path, text)
    }

    /// Returns the message, for example `serve.toml:3:7: target[2].host: ...`. Control characters are escaped.
    package func description(in file: String) -> String {
        let place = [(self.file ?? file).printable] + [line, column].compactMap { $0.map(String.init) }
        return (place.joined(separator: ":") + ": " + (path.isEmpty ? "" : "\(path.printable): ") + text).printable
    }
}

/// All problems of a configuration file, sorted by line.
package struct ConfigurationProblems: Error, Hashable, Sendable {
    package let problems: [ConfigurationProblem]

    package init(_ problems: [ConfigurationProblem]) {
        self.problems = problems
    }

    /// Returns the messages of the first hundred problems, see ``ConfigurationProblem/description(in:)``, and the number of the others.
    package func descriptions(in file: String) -> [String] {
        let lines = problems.prefix(Self.limit).map { $0.description(in: file) }
        let rest = problems.count - lines.count
        return rest == 0 ? lines : lines + ["\(file.printable): \(rest) more \(rest == 1 ? "error" : "errors")"]
    }

    /// The maximum number of errors that are described.
    private static let limit = 100
}
