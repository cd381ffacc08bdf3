import Glibc
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityRetry

/// The memory of a waiting request.
@Suite struct MemoryTests {
    /// The resident memory of the process in bytes, from `proc_pid_statm(5)`.
    private static var resident: Int {
        var text = [UInt8](repeating: 0, count: 128)
        let file = open("/proc/self/statm", O_RDONLY)
        defer { close(file) }
        let count = read(file, &text, text.count)
        let words = String(decoding: text.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * Int(getpagesize())
    }

    /// Runs in a separate process, in which no other code allocates.
    @Test func `the memory of a waiting request stays below its limit`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            // Frames of asynchronous functions are several times larger without optimization.
            let limit = _isDebugAssertConfiguration() ? 12_000 : 8192
            let bytes = try await Self.measure(10_000)
            print("memory per waiting request: \(bytes) bytes")
            exit(bytes < limit ? 0 : 1)
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        print(output.split(separator: "\n").last { $0.hasPrefix("memory") } ?? "no result")
    }

    private static func measure(_ count: Int) async throws -> Int {
        let world = VirtualWorld()
        let network = PlayedNetwork()
        let coordinator = world.coordinator(network, seed: 8)
        let target = try RetryTarget(host: "example.org", method: .get)
        network.set(reachable: false)
        return world.run {
            await withTaskGroup { group in
                let before = resident
                for _ in 0..<count {
                    // Sequential starts, so that the measurement includes the waits and not concurrent attempts.
                    try? await world.sleep(for: .milliseconds(1))
                    group.addTask {
                        _ = try? await withRetry(target: target, coordinator: coordinator, clock: world) { _ in
                            try await fail(with: SocketFailure(errorNumber: 101, during: .connecting))
                        }
                    }
                }
                try? await world.sleep(for: .seconds(1))
                precondition(coordinator.waitingCount(for: "example.org") == count)
                let used = resident - before
                group.cancelAll()
                return used / count
            }
        }
    }
}
