import ReachabilityRetry

extension Outbox {
    /// Sends what is in the outbox until the task is cancelled, as ``run(sender:coordinator:report:)`` with
    /// `RetryCoordinator.shared`, which goes by the kernel's word.
    public func run(
        sender: some OutboxSender,
        report: @escaping @Sendable (OutboxEvent) -> Void = { _ in }
    ) async throws(OutboxError) {
        try await run(sender: sender, coordinator: .shared, report: report)
    }

    /// Sends once what can be sent now, as ``flush(sender:coordinator:report:)`` with `RetryCoordinator.shared`.
    @discardableResult
    public func flush(
        sender: some OutboxSender,
        report: @escaping @Sendable (OutboxEvent) -> Void = { _ in }
    ) async throws(OutboxError) -> Int {
        try await flush(sender: sender, coordinator: .shared, report: report)
    }
}
