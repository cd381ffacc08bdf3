import Glibc
import LinuxSupport

/// A file of hosts or other targets, one on a line; blank lines and what follows a `#` do not count, nor does a byte order mark.
package struct TargetFile: Sendable {
    /// `-` is standard input, which can be read only once.
    package let path: String
    /// What came from standard input.
    private let input: String?

    /// Reads standard input to its end, where that is meant, which may take as long as somebody types; a file is read later.
    package init(path: String) throws(ExitMessage) {
        self.path = path
        input = path == "-" ? try Self.text(of: STDIN_FILENO, called: "standard input") : nil
    }

    package var isStandardInput: Bool { path == "-" }

    /// What it is called in messages.
    package var name: String { isStandardInput ? "standard input" : path }

    /// A line that is no target, and why.
    package struct BadLine: CustomStringConvertible {
        let file: String
        let number: Int
        let cause: String

        package var description: String { "\(file):\(number): \(cause)" }
    }

    /// Reads all of it: the hosts in their order, each once, and the lines that are none.
    ///
    /// - Parameter check: Throws for what is none.
    package func read<Failure: Error & CustomStringConvertible>(
        check: (String) throws(Failure) -> Void
    ) throws(ExitMessage) -> (hosts: [String], bad: [BadLine]) {
        var hosts: [String] = []
        var seen: Set<String> = []
        var bad: [BadLine] = []
        var text = try text()
        // Editors on other systems begin a file with it.
        if text.unicodeScalars.first == "\u{feff}" { text.unicodeScalars.removeFirst() }
        let lines = text.split(at: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let host = String(line.prefix { $0 != "#" }.trimmed)
            if host.isEmpty { continue }
            do throws(Failure) {
                try check(host)
                if seen.insert(host).inserted { hosts.append(host) }
            } catch {
                bad.append(BadLine(file: name, number: index + 1, cause: error.description))
            }
        }
        return (hosts, bad)
    }

    private func text() throws(ExitMessage) -> String {
        if let input { return input }
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        if file < 0 { throw Self.failure(path) }
        defer { close(file) }
        return try Self.text(of: file, called: path)
    }

    private static func text(of file: CInt, called name: String) throws(ExitMessage) -> String {
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe Glibc.read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw failure(name) }
            if count == 0 { return String(decoding: content, as: UTF8.self) }
            content += chunk[..<count]
        }
    }

    private static func failure(_ name: String) -> ExitMessage {
        let cause = unsafe String(cString: strerror(errno))
        return ExitMessage("cannot read the hosts in \(name): \(cause)", .noInput)
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop { $0.isWhitespace }
        return start.lastIndex { !$0.isWhitespace }.map { start[...$0] } ?? ""
    }
}
