import Glibc
import NetworkLab

/// A running `reachability watch --json`: a black box that writes lines.
final class Watcher {
    let targets: [Target]
    let process: LabProcess
    private var parsed = 0
    private(set) var lines: [Target: [StatusLine]] = [:]

    init(_ targets: [Target], in namespace: LabNamespace) throws {
        self.targets = targets
        process = try namespace.start(Product.path, ["watch", "--json"] + targets.compactMap(\.host))
    }

    /// Reads what has been written.
    func read() throws {
        let bytes = process.drain()
        while let end = bytes[parsed...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = try StatusLine(parsing: String(decoding: bytes[parsed..<end], as: UTF8.self))
            parsed = end + 1
            guard let target = targets.first(where: { $0.host == line.target }) else {
                throw LabError("a line about a target nobody asked for: \(line)")
            }
            lines[target, default: []].append(line)
        }
    }

    /// Reads until the condition holds, woken by what the watchers write. Whether it held in time. Blocks.
    static func read(
        _ watchers: [Watcher],
        within limit: Duration,
        until condition: () -> Bool = { false }
    ) throws -> Bool {
        let deadline = Deadline(after: limit)
        while true {
            for watcher in watchers {
                try watcher.read()
            }
            if condition() { return true }
            if deadline.hasPassed { return false }
            var events = watchers.map {
                pollfd(fd: $0.process.outputDescriptor.number, events: Int16(POLLIN), revents: 0)
            }
            _ = poll(&events, nfds_t(events.count), deadline.milliseconds)
            if events.contains(where: { $0.revents != 0 && $0.revents & Int16(POLLIN) == 0 }) {
                throw LabError("the watching process has closed its output")
            }
        }
    }
}
