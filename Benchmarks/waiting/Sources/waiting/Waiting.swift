import Glibc
import ReachabilityRetry

/// What a request costs that waits for the network: the memory of many, by `proc_pid_statm(5)`, beside tasks that wait for
/// nothing in particular. Prints a name and a number of bytes on each line.
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

    /// Child tasks that are suspended, each with a stream nobody writes to: the least that can be woken from elsewhere and
    /// cancelled.
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

    /// Requests whose first attempt failed, and which wait for the network, with a deadline of an hour.
    private static func retries(_ count: Int) async throws -> Int {
        let coordinator = RetryCoordinator(verdicts: Unreachable())
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
                // One after the other, so that what is measured are the waits and not the attempts.
                while coordinator.waitingCount(for: "example.org") <= number { await Task.yield() }
            }
            let used = resident - before
            group.cancelAll()
            return used
        }
    }

    /// The bytes of memory that are resident.
    private static var resident: Int {
        var text = [UInt8](repeating: 0, count: 128)
        let file = open("/proc/self/statm", O_RDONLY)
        defer { close(file) }
        let count = read(file, &text, text.count)
        let words = String(decoding: text.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * Int(getpagesize())
    }
}
