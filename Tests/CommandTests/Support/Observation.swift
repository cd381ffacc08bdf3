import Foundation
import Glibc
import NetworkLab
import Testing

/// A line of schema 1 with checked keys and types.
struct JSONLine {
    let members: [String: Any]

    /// The values that each key may have.
    private static let schema: [String: @Sendable (Any) -> Bool] = [
        "schema": { $0 as? Int == 1 },
        "time": { ($0 as? String)?.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#) != nil },
        "monotonicNanoseconds": { $0 is Int },
        "target": isTextOrNull,
        "status": { ["reachable", "notReachable", "unknown"].contains($0 as? String) },
        "connectionType": { $0 is NSNull || ["ethernetOrWiFi", "wwan"].contains($0 as? String) },
        "flags": { $0 is [String] },
        "interface": isTextOrNull,
        "interfaceType": isTextOrNull,
        "gateway": isTextOrNull,
        "source": isTextOrNull,
        "reason": isTextOrNull,
        "generation": { ($0 as? Int).map { $0 > 0 } ?? false },
        "underlyingInterfaces": { $0 is [String] },
        "destination": isTextOrNull,
        "supportsIPv4": { $0 is Bool },
        "supportsIPv6": { $0 is Bool },
        "flapping": { $0 is Bool },
        "namespace": isTextOrNull,
        "kind": { ["path", "evidence"].contains($0 as? String) },
    ]

    private static let isTextOrNull: @Sendable (Any) -> Bool = { $0 is NSNull || $0 is String }

    init(_ line: some StringProtocol) throws {
        members = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        for (key, isValid) in Self.schema {
            let value = try #require(members[key], "the key \(key) is missing")
            #expect(isValid(value), "\(key) is \(value)")
        }
        // Type and reason exclude each other, and each depends on the status.
        #expect((self["status"] == "reachable") == (self["connectionType"] != nil))
        #expect((self["status"] == "reachable") == (self["reason"] == nil))
    }

    /// The text of a key; nil for null.
    subscript(key: String) -> String? { members[key] as? String }
}

/// Counts how often the threads of a process have been suspended. If the count has not grown, no thread has run in
/// the meantime.
///
/// Source: `voluntary_ctxt_switches` in `proc_pid_status(5)`.
struct ThreadActivity {
    private let process: pid_t

    init(of process: pid_t) {
        self.process = process
    }

    /// The sum over all threads. Throws if the process has ended.
    var switches: Int {
        get throws {
            let directory = "/proc/\(process)/task"
            return try FileManager.default.contentsOfDirectory(atPath: directory).reduce(0) { sum, thread in
                // A thread that has just ended does not count.
                let status = (try? String(contentsOfFile: "\(directory)/\(thread)/status", encoding: .utf8)) ?? ""
                let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
                return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
            }
        }
    }

    /// Waits until the process has been asleep for a duration. Threads without work end after five seconds, so all work that was started
    /// before has ended.
    func waitForRest(of duration: Duration = .seconds(6)) async throws {
        var last: (switches: Int, since: ContinuousClock.Instant)?
        let isQuiet = try await eventually(every: .milliseconds(50)) {
            let now = ContinuousClock.now
            let switches = try self.switches
            if last?.switches != switches { last = (switches, now) }
            return last.map { now - $0.since > duration } ?? false
        }
        guard isQuiet else { throw LabError("the process does not become idle") }
    }
}

/// The messages of programs in the system log (`syslog(3)`). A socket of the test replaces `/dev/log`.
final class SystemLog: Sendable {
    private let directory = ScratchDirectory()
    private let receiver: DatagramReceiver

    init() throws {
        receiver = try DatagramReceiver(at: directory.file("log"))
        try check("chmod", chmod(receiver.place, 0o777))
    }

    /// Returns a script that runs `program` with its own /dev, which contains this log.
    func script(running program: String) -> String {
        let devices = directory.file("dev")
        return """
            exec unshare --mount sh -ec '
            mkdir \(devices)
            for name in null zero urandom; do
                touch \(devices)/$name
                mount --bind /dev/$name \(devices)/$name
            done
            ln -s \(directory.file("log")) \(devices)/log
            mount --rbind \(devices) /dev
            exec \(program)'
            """
    }

    /// The messages so far.
    var messages: [String] {
        var messages: [String] = []
        while let message = receiver.next(within: .zero) { messages.append(message) }
        return messages
    }
}
