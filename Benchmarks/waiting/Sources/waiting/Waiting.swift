import Glibc
import ReachabilityRetry

/// Measures the memory of requests that wait for the network (by `proc_pid_statm(5)`), compared with suspended tasks. Prints a name and a
/// number of bytes on each line.
///
/// usage: waiting [bare | retry] [count]
@main
enum Waiting {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let count = arguments.count > 2 ? Int(arguments[2]) ?? 10_000 : 10_000
        let kind = arguments.count > 1 ? arguments[1] : "retry"
        let used = kind == "bare" ? await bare(count) : try await retries(count)
        print(kind, used / count)
        exit(0)
    }

    /// Starts suspended child tasks, each waiting for a stream without elements: the smallest task that can be resumed from elsewhere and
    /// cancelled. Returns the growth of the resident size in bytes.
    private static func bare(_ count: Int) async -> Int {
        await withTaskGroup { group in
            let before = resident
            for _ in 0..<count {
                let (bells, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                group.addTask {
                    for await _ in bells {}
                    withExtendedLifetime(bell) {}
                }
            }
            try? await Task.sleep(for: .seconds(1))
            let used = resident - before
            group.cancelAll()
            return used
        }
    }

    /// Starts requests whose first attempt fails, and which then wait for the network, with a deadline of an hour. Returns the
    /// growth of the resident size in bytes.
    private static func retries(_ count: Int) async throws -> Int {
        let coordinator = RetryCoordinator(reachability: Unreachable())
        let target = try RetryTarget(host: "example.org", method: .get)
        let policy = try RetryPolicy(deadline: .seconds(3600))
        return await withTaskGroup { group in
            let before = resident
            for number in 0..<count {
                group.addTask {
                    _ = try? await withRetry(policy: policy, target: target, coordinator: coordinator) { _ in
                        throw SocketFailure(errorNumber: ENETUNREACH, during: .connecting)
                    }
                }
                // Starts the requests one by one, so that the measurement contains the waits and not the attempts.
                while coordinator.waitingCount(for: "example.org") <= number { await Task.yield() }
            }
            let used = resident - before
            group.cancelAll()
            return used
        }
    }

    /// The resident size in bytes.
    private static var resident: Int {
        var text = [UInt8](repeating: 0, count: 128)
        let file = open("/proc/self/statm", O_RDONLY)
        defer { close(file) }
        let count = read(file, &text, text.count)
        let words = String(decoding: text.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * Int(getpagesize())
    }
}
