import LinuxSupport

/// On which lines the keys of a document stand, as far as a look at the beginnings of its lines tells.
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

    /// Nil where it was not seen.
    subscript(path: String) -> Int? { lines[path] }

    /// That of the key, of tables of one name the first, else of what it is in.
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
