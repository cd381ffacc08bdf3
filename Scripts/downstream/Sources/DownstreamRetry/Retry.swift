import ReachabilityRetry

@MainActor final class Uploader {
    private var uploads = 0

    func upload() async throws -> Int {
        let target = try RetryTarget(host: "example.org", method: .post, idempotencyKey: "1")
        let outcome = try await withRetry(target: target) { _ in 201 }
        uploads += 1
        return outcome.value
    }
}
