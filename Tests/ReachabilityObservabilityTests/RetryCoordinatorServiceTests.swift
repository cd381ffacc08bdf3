import LinuxSupport
import Logging
import ReachabilityObservability
import ReachabilityRetry
import ServiceLifecycle
import TestSupport
import Testing

/// The requests of a daemon at its shutdown.
struct RetryCoordinatorServiceTests {
    private let coordinator = RetryCoordinator(reachability: PlayedNetwork())

    private func group(_ limit: Duration) -> ServiceGroup {
        ServiceGroup(
            services: [RetryCoordinatorService(coordinator, draining: limit)],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    /// Starts a request that ends with `gate` or with its cancellation.
    private func request(_ gate: AsyncStream<Void>) async throws -> Task<Int, any Error> {
        let target = try RetryTarget(host: "example.org", method: .get)
        let (begins, begin) = AsyncStream.makeStream(of: Void.self)
        let task = Task { [coordinator] in
            try await withRetry(target: target, coordinator: coordinator) { attempt in
                begin.yield()
                for await _ in gate {}
                try Task.checkCancellation()
                return attempt
            }.value
        }
        for await _ in begins { break }
        return task
    }

    @Test func `a graceful shutdown completes current requests and starts no new one`() async throws {
        let (gate, key) = AsyncStream.makeStream(of: Void.self)
        let group = group(.seconds(3600))
        let running = Task { try await group.run() }
        let request = try await request(gate)
        await group.triggerGracefulShutdown()
        var ending: RetryError.Ending?
        let target = try RetryTarget(host: "example.org", method: .get)
        // The group shuts down its services asynchronously.
        while ending == nil {
            do { _ = try await withRetry(target: target, coordinator: coordinator) { $0 } } catch {
                ending = error.ending
            }
            await Task.yield()
        }
        #expect(ending == .shutDown)
        key.finish()
        #expect(try await request.value == 1)
        try await running.value
    }

    @Test(arguments: [true, false])
    func `requests are cancelled after the drain limit, and with the group`(isDrained: Bool) async throws {
        let (gate, key) = AsyncStream.makeStream(of: Void.self)
        defer { key.finish() }
        let group = group(isDrained ? .zero : .seconds(3600))
        let running = Task { try await group.run() }
        let request = try await request(gate)
        if isDrained { await group.triggerGracefulShutdown() } else { running.cancel() }
        do {
            try await running.value
        } catch {
            #expect(!isDrained, "\(error)")
        }
        let error = await #expect(throws: RetryError.self) { try await request.value }
        #expect(error?.ending == .shutDown)
    }
}
