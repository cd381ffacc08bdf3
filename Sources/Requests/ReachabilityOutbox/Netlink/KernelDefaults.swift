#if Netlink
import ReachabilityRetry

extension Outbox {
    /// Sends what is in the outbox until the task is cancelled, as ``run(sender:verdicts:report:)`` by the kernel's word
    /// (`MonitoredVerdicts`).
    public func run(
        sender: some OutboxSender,
        report: @escaping @Sendable (OutboxEvent) -> Void = { _ in }
    ) async throws(OutboxError) {
        try await run(sender: sender, verdicts: MonitoredVerdicts(), report: report)
    }

    /// Sends once what can be sent now, as ``flush(sender:verdicts:report:)`` by the kernel's word (`MonitoredVerdicts`).
    @discardableResult
    public func flush(
        sender: some OutboxSender,
        report: @escaping @Sendable (OutboxEvent) -> Void = { _ in }
    ) async throws(OutboxError) -> Int {
        try await flush(sender: sender, verdicts: MonitoredVerdicts(), report: report)
    }
}
#endif
