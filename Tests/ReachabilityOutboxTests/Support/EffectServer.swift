import Glibc
import LinuxSupport
import NetworkLab
import TestSupport

/// An HTTP server on loopback that honours `Idempotency-Key`, and counts what it does: a body is done when its key is new.
/// Of its answers, chosen by a seed, some never come and some are 503, before or after the work was done.
final class EffectServer: Sendable {
    struct Counts {
        /// How often each body was done.
        var effects: [String: Int] = [:]
        /// The keys that were seen, and with which body.
        var keys: [String: String] = [:]
        var requests = 0
        /// Bodies in the order they were done in.
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

    /// Serves no more.
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

/// The program to be killed, beside the running test bundle.
enum Victim {
    static let path = BuiltProgram.path("OutboxVictim")

    /// Runs it, kills it so long after its first line if at all, and returns the keys it has written: those are on the disk.
    static func run(_ file: ScratchFile, port: UInt16, keys: [String], killAfter: Duration?) throws -> Set<String> {
        let input = keys.map { $0 + "\n" }.joined()
        let process = try LabProcess(path, [file.path, "\(port)"], input: input)
        if let killAfter {
            // Until then it has only begun, which a kill cannot hurt.
            var poll = pollfd(fd: process.outputDescriptor.number, events: Int16(POLLIN), revents: 0)
            _ = Glibc.poll(&poll, 1, 30_000)
            // The moment is what is tested: nothing is waited for.
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
