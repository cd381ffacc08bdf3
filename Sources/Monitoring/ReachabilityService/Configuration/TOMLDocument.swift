import TOMLKit

/// A document of TOML as plain values: the parser is used here and nowhere else.
package enum TOMLNode: Hashable, Sendable {
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    case array([TOMLNode])
    case table([String: TOMLNode])
    /// A date or a time, which no key wants.
    case time

    /// What people call it.
    var kind: String {
        switch self {
        case .string: "a text"
        case .integer: "a whole number"
        case .number: "a number"
        case .boolean: "true or false"
        case .array: "a list"
        case .table: "a table"
        case .time: "a date or time"
        }
    }

    /// Reads a document.
    ///
    /// - Throws: ``ConfigurationProblem`` with line and column for what is no TOML.
    static func parse(_ text: String) throws(ConfigurationProblem) -> [String: TOMLNode] {
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
