import LinuxSupport

/// Something that is wrong in a configuration: where, what was found, and what is allowed.
package struct ConfigurationProblem: Error, Hashable, Sendable {
    /// Counted from 1; nil where it cannot be known.
    package var line: Int?
    package var column: Int?
    /// The key, for example `target[2].host`; empty for the whole document.
    package let path: String
    package let text: String

    package init(line: Int? = nil, column: Int? = nil, path: String, text: String) {
        (self.line, self.column, self.path, self.text) = (line, column, path, text)
    }

    /// As compilers write it: `serve.toml:3:7: target[2].host: ...`.
    package func description(in file: String) -> String {
        let place = [file.printable] + [line, column].compactMap { $0.map(String.init) }
        return (place.joined(separator: ":") + ": " + (path.isEmpty ? "" : "\(path.printable): ") + text).printable
    }
}

/// All that is wrong in a configuration, in its order.
package struct ConfigurationProblems: Error, Hashable, Sendable {
    package let problems: [ConfigurationProblem]

    package init(_ problems: [ConfigurationProblem]) {
        self.problems = problems
    }
}
