import Glibc
import ReachabilityOutbox
import ReachabilityRetry

/// A program that a test kills. It adds requests to an outbox and sends them concurrently. It prints the key of each
/// request that is on the disk. At the end of its input it waits until the outbox is empty.
///
/// usage: OutboxVictim FILE PORT < KEYS
@main
struct OutboxVictim {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let port = UInt16(arguments[2]) else { exit(64) }
        var options = OutboxOptions()
        options.backoff = try Backoff(base: .milliseconds(5), cap: .milliseconds(20))
        options.pollInterval = .milliseconds(20)
        let outbox = try await Outbox(file: arguments[1], options: options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await outbox.run(sender: LoopbackSender(port: port)) }
            while let key = readLine() {
                let url = "http://127.0.0.1:\(port)/effects"
                let request = OutboxRequest(
                    "POST",
                    url,
                    headers: [.init(name: "X-Secret", value: "hush")],
                    body: Array(key.utf8)
                )
                try await outbox.enqueue(request, dedupeKey: key)
                print(key)
                fflush(nil)
            }
            while try await !outbox.entries().isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
