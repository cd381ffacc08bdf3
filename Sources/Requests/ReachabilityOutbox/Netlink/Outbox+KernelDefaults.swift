#if Netlink
extension Outbox {
    /// Sends what is in the outbox until the task is cancelled, as ``run(sender:reachability:report:)`` by the kernel's word
    /// (``OutboxReachability/system(options:)``).
    public func run(
        sender: some OutboxSender,
        report: @escaping @Sendable (OutboxEvent) -> Void = { _ in }
    ) async throws(OutboxError) {
        try await run(sender: sender, reachability: .system(), report: report)
    }

    /// Sends once what can be sent now, as ``flush(sender:reachability:report:)`` by the kernel's word
    /// (``OutboxReachability/system(options:)``).
    @discardableResult
    public func flush(
        sender: some OutboxSender,
        report: @escaping @Sendable (OutboxEvent) -> Void = { _ in }
    ) async throws(OutboxError) -> Int {
        try await flush(sender: sender, reachability: .system(), report: report)
    }
}
#endif
