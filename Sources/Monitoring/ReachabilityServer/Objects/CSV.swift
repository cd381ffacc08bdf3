import LinuxSupport

/// A table as RFC 4180 has it.
struct CSV {
    static let contentType = "text/csv; charset=utf-8; header=present"

    private(set) var text: String

    init(_ heads: [String]) { text = Self.line(heads) }

    mutating func add(_ cells: [String]) { text += Self.line(cells) }

    private static func line(_ cells: [String]) -> String { cells.map(\.csvField).joined(separator: ",") + "\r\n" }
}

extension String {
    /// As a field of CSV: quoted where it must be. What a spreadsheet would compute is made a text by an apostrophe.
    ///
    /// By scalars, for a quotation mark with an accent is another character, and a quotation mark in a file all the same.
    var csvField: String {
        let scalars = printable.unicodeScalars
        let lead = scalars.first.map { "=+-@".unicodeScalars.contains($0) } ?? false ? "'" : ""
        guard !lead.isEmpty || scalars.contains(where: { $0 == "\"" || $0 == "," }) else { return String(scalars) }
        return "\"" + lead + scalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }
}
