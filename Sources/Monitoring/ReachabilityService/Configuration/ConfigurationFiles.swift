import LinuxSupport

/// The documents of a configuration: the main file, and the files in the directory that its key `include` names.
struct ConfigurationFiles: Hashable, Sendable {
    private struct Part: Hashable, Sendable {
        /// The path; nil for the main file.
        let file: String?
        let lines: KeyLines
    }

    /// The position of an element of an array of tables in its file.
    private struct Origin: Hashable, Sendable {
        let part: Int
        /// The index, counted from 1.
        let number: Int
    }

    /// The keys of included files: arrays of tables. Their elements follow those of the main file.
    private static let keys = ["gate", "maintenance", "notify", "target"]
    /// The maximum number of included files.
    private static let countLimit = 256

    /// The merged documents. Environment variables are not replaced.
    private(set) var nodes: [String: TOMLNode] = [:]
    private var parts: [Part] = []
    /// The origins of all elements, by key. Only keys of included files have an entry.
    private var origins: [String: [Origin]] = [:]

    init() {}

    /// Parses the main file and reads the included files.
    ///
    /// - Parameters:
    ///   - text: The main file.
    ///   - directory: The directory for a relative path, with a slash at its end; nil for the current directory.
    ///   - keys: The keys that are read; nil for all.
    init(_ text: String, in directory: String?, only keys: Set<String>? = nil) throws(ConfigurationProblems) {
        do throws(ConfigurationProblem) { nodes = try TOMLNode.parse(text) } catch {
            throw ConfigurationProblems([error])
        }
        if let keys { nodes = nodes.filter { keys.contains($0.key) } }
        parts = [Part(file: nil, lines: KeyLines(text))]
        guard case .string(let name)? = nodes["include"], !name.isEmpty else { return }
        let path = name.hasPrefix("/") ? name : (directory ?? "") + name
        let names: [String]
        do { names = try DirectoryListing.names(in: path) } catch {
            throw problem("include", "cannot read the directory \(path.printable): \(error)")
        }
        let files = names.filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }
        guard files.count <= Self.countLimit else {
            throw problem("include", "\(path.printable) has more than \(Self.countLimit) files")
        }
        var problems: [ConfigurationProblem] = []
        for file in files.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let path = path.hasSuffix("/") ? path + file : "\(path)/\(file)"
            do throws(ConfigurationProblem) { problems += try include(path) } catch {
                var error = error
                error.file = path
                problems.append(error)
            }
        }
        if !problems.isEmpty { throw ConfigurationProblems(problems) }
    }

    private func problem(_ path: String, _ text: String) -> ConfigurationProblems {
        ConfigurationProblems([placed(ConfigurationProblem(path: path, text: text))])
    }

    /// Adds the content of a file, and returns its keys that are not allowed.
    private mutating func include(_ file: String) throws(ConfigurationProblem) -> [ConfigurationProblem] {
        let text = try Self.text(of: file)
        let own = try TOMLNode.parse(text)
        let part = Part(file: file, lines: KeyLines(text))
        parts.append(part)
        var problems: [ConfigurationProblem] = []
        for (key, node) in own.sorted(by: { $0.key < $1.key }) where key != "schema" || node != .integer(1) {
            guard Self.keys.contains(key), case .array(let elements) = node else {
                let allowed = Self.keys.map { "[[\($0)]]" }.joined(separator: ", ")
                var problem = ConfigurationProblem(
                    path: key,
                    text: "is not allowed in an included file, which may contain \(allowed)"
                )
                (problem.file, problem.line) = (file, part.lines.nearest(to: key))
                problems.append(problem)
                continue
            }
            // A wrong type in the main file is reported when the key is read.
            guard case .array(let known) = nodes[key] ?? .array([]) else { continue }
            let before = origins[key] ?? known.indices.map { Origin(part: 0, number: $0 + 1) }
            origins[key] = before + elements.indices.map { Origin(part: parts.count - 1, number: $0 + 1) }
            nodes[key] = .array(known + elements)
        }
        return problems
    }

    /// Returns a problem with its file and its line.
    func placed(_ problem: ConfigurationProblem) -> ConfigurationProblem {
        guard problem.file == nil, !parts.isEmpty else { return problem }
        var (part, path) = (parts[0], problem.path)
        let pieces = path.split(at: "[", maxSplits: 1, omittingEmptySubsequences: false)
        if pieces.count == 2, let number = Int(pieces[1].prefix { $0 != "]" }),
            let all = origins[String(pieces[0])], all.indices.contains(number - 1)
        {
            let origin = all[number - 1]
            part = parts[origin.part]
            path = "\(pieces[0])[\(origin.number)\(pieces[1].drop { $0 != "]" })"
        }
        var placed = ConfigurationProblem(line: problem.line, column: problem.column, path: path, text: problem.text)
        (placed.file, placed.line) = (part.file, problem.line ?? part.lines.nearest(to: path))
        return placed
    }

    /// Returns the text of a configuration file of at most 1 MiB.
    static func text(of file: String) throws(ConfigurationProblem) -> String {
        let bytes: [UInt8]
        do { bytes = try InputFile.read(file, limit: 1 << 20) } catch {
            throw ConfigurationProblem(path: "", text: "cannot read the file: \(error)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationProblem(path: "", text: "the file is not UTF-8")
        }
        return text
    }

    /// Returns the merged documents with the values of environment variables in place of `${NAME}`.
    ///
    /// - Parameter variable: Returns the value of a variable; nil if it is not set or empty.
    func expanded(_ variable: (String) -> String?, _ findings: TableReader.Findings) -> [String: TOMLNode] {
        Self.expanded(nodes, "", variable, findings)
    }

    private static func expanded(
        _ table: [String: TOMLNode],
        _ path: String,
        _ variable: (String) -> String?,
        _ findings: TableReader.Findings
    ) -> [String: TOMLNode] {
        var expanded = table
        for (key, node) in table {
            expanded[key] = self.expanded(node, path.isEmpty ? key : "\(path).\(key)", variable, findings)
        }
        return expanded
    }

    private static func expanded(
        _ node: TOMLNode,
        _ path: String,
        _ variable: (String) -> String?,
        _ findings: TableReader.Findings
    ) -> TOMLNode {
        switch node {
        case .string(let text):
            do throws(ConfigurationProblem) { return .string(try expanded(text, path, variable)) } catch {
                findings.problems.append(error)
                return node
            }
        case .array(let nodes):
            return .array(nodes.enumerated().map { expanded($1, "\(path)[\($0 + 1)]", variable, findings) })
        case .table(let table): return .table(expanded(table, path, variable, findings))
        case .integer, .number, .boolean, .time: return node
        }
    }

    /// Replaces `${NAME}`. `$${` stands for `${`.
    private static func expanded(
        _ text: String,
        _ path: String,
        _ variable: (String) -> String?
    ) throws(ConfigurationProblem) -> String {
        var (result, rest) = ("", text[...])
        while let mark = rest.firstRange(of: "${") {
            let before = rest[..<mark.lowerBound]
            (result, rest) = (result + before, rest[mark.upperBound...])
            if before.unicodeScalars.last == "$" {
                result += "{"
                continue
            }
            guard let end = rest.unicodeScalars.firstIndex(of: "}"), isVariable(rest[..<end]) else {
                let form = "must have the form ${NAME} with letters, digits and \"_\"; write $${ for the text ${"
                throw ConfigurationProblem(path: path, text: form)
            }
            let name = String(rest[..<end])
            guard let value = variable(name) else {
                throw ConfigurationProblem(path: path, text: "the environment variable \(name) is not set, or is empty")
            }
            result += value
            rest = rest[rest.unicodeScalars.index(after: end)...]
        }
        return result + rest
    }

    private static func isVariable(_ name: Substring) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let first = name.utf8.first, !digits.contains(first) else { return false }
        return name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || digits.contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xdf)
        }
    }
}
