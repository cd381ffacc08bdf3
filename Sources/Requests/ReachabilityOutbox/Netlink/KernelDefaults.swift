#if Netlink
import Logging
public import NetworkReachability

extension OutboxReachability {
    /// The answer of `NetworkReachabilityManager`, one manager for each host there are requests for. A host counts as reachable
    /// where the kernel cannot be asked, for only trying can tell then.
    public static func system(options: NetworkReachabilityOptions = NetworkReachabilityOptions()) -> OutboxReachability
    {
        OutboxReachability { host in
            do {
                let manager = try NetworkReachabilityManager(host: host, options: options)
                // The manager is held by the sequence, and lives as long.
                return manager.paths.compactMap { [manager] path in
                    withExtendedLifetime(manager) { path.reason == .resolving ? nil : path.status != .notReachable }
                }
            } catch {
                options.logger?.warning("cannot watch", metadata: ["host": "\(host)", "error": "\(error)"])
                return AlwaysReachable()
            }
        } reason: { host in
            guard let manager = try? NetworkReachabilityManager(host: host, options: options) else { return nil }
            for await path in manager.paths where path.reason != .resolving {
                return withExtendedLifetime(manager) { path.reason?.description }
            }
            return nil
        }
    }
}

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
