import Glibc
import LinuxSupport
import NetworkLab
import TestSupport

/// An HTTP server on loopback that supports `Idempotency-Key` and counts executions. A body is executed if its key is
/// new. Some responses, chosen by a seed, are missing or have status 503, before or after the execution.
final class EffectServer: Sendable {
    struct Counts {
        /// The number of executions of each body.
        var effects: [String: Int] = [:]
        /// The known keys, each with its body.
        var keys: [String: String] = [:]
        var requests = 0
        /// The bodies in the sequence of their execution.
        var order: [String] = []
        var conflicts: [String] = []
        var generator: SeededGenerator
    }

    private let server: ScriptedServer
    private let state: Locked<Counts>

    init(seed: UInt64 = 1, faults: Bool = false) throws {
        let state = Locked(Counts(generator: SeededGenerator(seed: seed)))
        self.state = state
        server = try ScriptedServer { request in
            state.withLock { $0.reply(to: request.bodyText, key: request["Idempotency-Key"] ?? "none", faults: faults) }
        }
    }

    var port: UInt16 { UInt16(server.port) }

    var counts: Counts { state.withLock { $0 } }

    /// Stops the server.
    func stop() {
        server.stop()
    }
}

extension EffectServer.Counts {
    fileprivate mutating func reply(to body: String, key: String, faults: Bool) -> ScriptedReply {
        requests += 1
        let unavailable = ScriptedReply.status(503, headers: [("Connection", "close")], then: .close)
        let fault = faults ? Int.random(in: 0..<8, using: &generator) : 7
        if fault == 0 { return unavailable }
        if let earlier = keys.updateValue(body, forKey: key) {
            if earlier != body { conflicts.append(body) }
        } else {
            effects[body, default: 0] += 1
            order.append(body)
        }
        if fault == 1 { return .disconnect }
        return fault == 2 ? unavailable : .status(200, headers: [("Connection", "close")], then: .close)
    }
}

/// The program that is killed. It lies beside the running test bundle.
enum Victim {
    static let path = BuiltProgram.path("OutboxVictim")

    /// Runs the program. If `killAfter` is not nil, kills it that long after its first line. Returns the keys that it
    /// has printed, whose requests are on the disk.
    static func run(_ file: ScratchFile, port: UInt16, keys: [String], killAfter: Duration?) throws -> Set<String> {
        let input = keys.map { $0 + "\n" }.joined()
        let process = try LabProcess(path, [file.path, "\(port)"], input: input)
        if let killAfter {
            // Before its first line the program has stored nothing, so a kill has no effect.
            var poll = pollfd(fd: process.outputDescriptor.number, events: Int16(POLLIN), revents: 0)
            _ = Glibc.poll(&poll, 1, 30_000)
            // The random moment is the subject of the test, so this is a plain delay.
            usleep(UInt32(killAfter / .microseconds(1)))
            kill(process.identifier, SIGKILL)
        }
        let result = try process.wait(within: .seconds(300))
        let expected: Set<CInt> = killAfter == nil ? [0] : [0, -SIGKILL]
        guard expected.contains(result.status) else { throw LabError("\(result.status): \(result.errors)") }
        let complete = result.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return Set(complete.map(String.init))
    }
}
