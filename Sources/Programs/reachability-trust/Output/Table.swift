import CommandLineSupport

/// Lines with a word in front, and more lines below it.
enum Table {
    /// The word in a column of its own; every text on its own line.
    static func lines(_ word: String, _ texts: [String]) -> [String] {
        texts.enumerated().map { index, text in
            let start = index == 0 ? word : ""
            return start + String(repeating: " ", count: max(1, 14 - start.count)) + text
        }
    }

    static func write(_ lines: [String]) {
        StandardOutput.write(Array(lines.joined(separator: "\n").utf8))
    }
}
