import Foundation
import Testing

/// The pages of `docs/cli`. `README.md` contains the tables of exit statuses, signals and variables.
struct CommandDocument {
    let text: String
    private let directory: URL

    init() throws {
        let file = URL(filePath: #filePath)
        let root = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        directory = root.appending(path: "docs/cli")
        text = try String(contentsOf: directory.appending(path: "README.md"), encoding: .utf8)
    }

    /// The text of the page of a subcommand, such as `outbox add`.
    func page(of subcommand: String) throws -> String {
        let name = subcommand.split(separator: " ").joined(separator: "-")
        return try String(contentsOf: directory.appending(path: "\(name).md"), encoding: .utf8)
    }

    /// The text of `README.md` below a heading of the second level.
    func section(_ heading: String) throws -> Substring {
        let start = try #require(text.firstRange(of: "\n## \(heading)\n"), "there is no section \(heading)").upperBound
        return text[start...].prefix(upTo: text[start...].firstRange(of: "\n## ")?.lowerBound ?? text.endIndex)
    }

    /// The first cells of the rows of a section's table that are about a subcommand.
    func keys(_ heading: String, of subcommand: String) throws -> [String] {
        try section(heading).split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().compactMap { row in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return cells[1] == "all" || cells[1].contains("`\(subcommand)`") ? cells[0] : nil
        }
    }
}
