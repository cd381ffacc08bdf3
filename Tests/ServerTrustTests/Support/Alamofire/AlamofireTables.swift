/// The tables of `docs/server-trust.md` about Alamofire's expectations: their number and the differences.
enum AlamofireTables {
    static var text: String {
        let files = AlamofireFile.all
        let groups =
            AlamofireRow.groups.map {
                (title: $0.title, count: $0.rows.count, differ: $0.rows.filter(\.isDifferent).count)
            }
            + [(title: "Files of a bundle", count: files.count, differ: files.filter { $0.difference != nil }.count)]
        let counts = groups.map { "| \($0.title) | \($0.count) | \($0.count - $0.differ) | \($0.differ) |\n" }.joined()
        let count = groups.map(\.count).reduce(0, +)
        let differ = groups.map(\.differ).reduce(0, +)
        let differences =
            AlamofireRow.groups.flatMap { group in group.rows.map { (group.title, $0) } }.compactMap { title, row in
                row.difference.map {
                    "| \(title): \(row.name) | \(word(row.isTrustedByTheirs)) | \(word(row.expected == .trusted)) | \($0) |\n"
                }
            }
            + files.compactMap { file in
                file.difference.map {
                    "| Files of a bundle: \(file.name) | \(file.isRead ? "left out" : "read") "
                        + "| \(file.isRead ? "read" : "left out") | \($0) |\n"
                }
            }
        return """

            | Rows about | Rows | Same verdict | Different |
            |---|---|---|---|
            \(counts)| together | \(count) | \(count - differ) | \(differ) |

            | Row | Theirs | Ours | Why |
            |---|---|---|---|
            \(differences.joined())

            """
    }

    private static func word(_ isTrusted: Bool) -> String { isTrusted ? "trusted" : "refused" }
}

extension AlamofireRow {
    fileprivate var isDifferent: Bool { difference != nil }
}

extension AlamofireRow {
    /// All rows, grouped by origin.
    static let groups: [(title: String, rows: [AlamofireRow])] = [
        ("Chains and hosts", chains),
        ("Alamofire 4, policies", alamofire4),
        ("Alamofire 5, evaluators", alamofire5),
        ("Managers", managers),
        ("AFNetworking", afNetworking),
    ]

    static let all = groups.flatMap(\.rows)
}
