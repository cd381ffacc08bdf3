/// A table as RFC 4180 has it. What a spreadsheet would take for a formula is text.
struct CSV {
    static let contentType = "text/csv; charset=utf-8; header=present"

    private(set) var text: String

    init(_ heads: [String]) { text = Self.line(heads) }

    mutating func add(_ cells: [String]) { text += Self.line(cells) }

    private static func line(_ cells: [String]) -> String {
        cells.map(cell).joined(separator: ",") + "\r\n"
    }

    private static func cell(_ text: String) -> String {
        let isFormula = text.first.map { "=+-@\t\r".contains($0) } ?? false
        let plain = (isFormula ? "'" : "") + text
        let isSpecial = plain.unicodeScalars.contains { ["\"", ",", "\r", "\n"].contains($0) }
        return isSpecial ? "\"\(plain.replacing("\"", with: "\"\""))\"" : plain
    }
}
