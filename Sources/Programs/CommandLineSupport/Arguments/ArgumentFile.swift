import Glibc
import LinuxSupport

/// A file named by an argument. The path `-` stands for standard input.
package struct ArgumentFile: Sendable {
    package let path: String

    package init(_ path: String) {
        self.path = path
    }

    package var isStandardInput: Bool { path == "-" }

    /// The file's name in messages.
    package var name: String { isStandardInput ? "standard input" : path }

    /// Reads the file to its end.
    ///
    /// - Parameters:
    ///   - content: The name of the content in messages. If nil, messages name only the file.
    ///   - limit: The maximum number of bytes.
    /// - Throws: ``ExitMessage`` if the file cannot be read or is larger than the limit.
    ///
    /// C counterpart: `read(2)`.
    package func bytes(of content: String? = nil, limit: Int = .max) throws(ExitMessage) -> [UInt8] {
        func failure() -> ExitMessage {
            let error = SystemError.current
            return ExitMessage("cannot read \(content.map { "\($0) in " } ?? "")\(name): \(error)", .noInput)
        }
        let descriptor = isStandardInput ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { if !isStandardInput { close(descriptor) } }
        var (bytes, chunk): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 64 << 10))
        while true {
            let count = unsafe read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += chunk[..<count]
            } else if errno != EINTR {
                throw failure()
            }
            if bytes.count > limit {
                throw ExitMessage("cannot read \(name): it has more than \(limit) bytes", .usage)
            }
        }
    }
}

/// A file of hosts or other targets, one per line. Blank lines, text after `#` and a byte order mark are ignored.
package struct TargetFile: Sendable {
    package let file: ArgumentFile
    /// The content of standard input, which can be read only once. Nil for another file.
    private let input: [UInt8]?

    /// Creates a target file. Standard input is read here to its end, which takes as long as a user types. Another file is read later.
    package init(path: String) throws(ExitMessage) {
        file = ArgumentFile(path)
        input = file.isStandardInput ? try file.bytes(of: "the hosts") : nil
    }

    /// A line that is not a target, with the reason.
    package struct BadLine: CustomStringConvertible {
        let file: String
        let number: Int
        let cause: String

        package var description: String { "\(file):\(number): \(cause)" }
    }

    /// Returns the hosts in their order without duplicates, and the lines that are not hosts.
    ///
    /// - Parameter check: Throws if a text is not a host.
    package func read<Failure: Error & CustomStringConvertible>(
        check: (String) throws(Failure) -> Void
    ) throws(ExitMessage) -> (hosts: [String], bad: [BadLine]) {
        var hosts: [String] = []
        var seen: Set<String> = []
        var bad: [BadLine] = []
        let bytes = if let input { input } else { try file.bytes(of: "the hosts") }
        var text = String(decoding: bytes, as: UTF8.self)
        // Some editors write a byte order mark.
        if text.unicodeScalars.first == "\u{feff}" { text.unicodeScalars.removeFirst() }
        let lines = text.split(at: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let host = String(line.prefix { $0 != "#" }.trimmed)
            if host.isEmpty { continue }
            do throws(Failure) {
                try check(host)
                if seen.insert(host).inserted { hosts.append(host) }
            } catch {
                bad.append(BadLine(file: file.name, number: index + 1, cause: error.description))
            }
        }
        return (hosts, bad)
    }

    /// Reads all targets. A line that is not a target is an error, because the remaining targets alone would decide the exit status.
    ///
    /// - Parameter noun: The plural name of the targets in messages.
    package func readAll<Failure: Error & CustomStringConvertible>(
        _ noun: String,
        check: (String) throws(Failure) -> Void
    ) throws(ExitMessage) -> [String] {
        let (hosts, bad) = try read(check: check)
        try Self.refuse(bad)
        if hosts.isEmpty { throw ExitMessage("cannot use \(file.name): it has no \(noun)", .dataError) }
        return hosts
    }

    /// Reports all lines except the last on standard error.
    ///
    /// - Throws: ``ExitMessage`` for the last line, unless the list is empty.
    package static func refuse(_ lines: [BadLine]) throws(ExitMessage) {
        guard let last = lines.last else { return }
        for line in lines.dropLast() { StandardError.report("\(line)") }
        throw ExitMessage("\(last)", .dataError)
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop { $0.isWhitespace }
        return start.lastIndex { !$0.isWhitespace }.map { start[...$0] } ?? ""
    }
}
