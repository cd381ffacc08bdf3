import Glibc
import NetworkReachability

/// A file of hosts, one on a line; blank lines and what follows a `#` do not count.
struct TargetFile: Sendable {
    /// `-` is standard input, which can be read only once.
    let path: String

    var isStandardInput: Bool { path == "-" }

    private var name: String { isStandardInput ? "standard input" : path }

    /// A line that is no host.
    struct BadLine: CustomStringConvertible {
        let file: String
        let number: Int
        let cause: NetworkReachabilityError

        var description: String { "\(file):\(number): \(cause)" }
    }

    /// Reads all of it: the hosts in their order, each once, and the lines that are none.
    func read(
        isHost: (String) throws(NetworkReachabilityError) -> Void
    ) throws(ExitMessage) -> (hosts: [String], bad: [BadLine]) {
        var hosts: [String] = []
        var seen: Set<String> = []
        var bad: [BadLine] = []
        let lines = try text().split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let host = String(line.prefix { $0 != "#" }.trimmed)
            if host.isEmpty { continue }
            do throws(NetworkReachabilityError) {
                try isHost(host)
                if seen.insert(host).inserted { hosts.append(host) }
            } catch {
                bad.append(BadLine(file: name, number: index + 1, cause: error))
            }
        }
        return (hosts, bad)
    }

    private func text() throws(ExitMessage) -> String {
        let file = isStandardInput ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        defer { if !isStandardInput, file >= 0 { close(file) } }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe Glibc.read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                let cause = unsafe String(cString: strerror(errno))
                throw ExitMessage("cannot read the hosts in \(name): \(cause)", .noInput)
            }
            if count == 0 { return String(decoding: content, as: UTF8.self) }
            content += chunk[..<count]
        }
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop { $0.isWhitespace }
        return start.lastIndex { !$0.isWhitespace }.map { start[...$0] } ?? ""
    }
}
