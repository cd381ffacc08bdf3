public import ReachabilityRetry

extension Outbox {
    /// Sends what is in the outbox, and what is put in meanwhile, until the task is cancelled. Then it lets what is being sent
    /// come to its end, for ``OutboxOptions/drainLimit`` at most, and returns; no task of its own is left behind.
    ///
    /// One at a time sends: others that run on the same file, in whatever process, wait until that one ends, which the kernel
    /// tells even of one that is killed. What it was sending then is sent again, with the same key.
    ///
    /// - Parameters:
    ///   - sender: What sends. It is called for several hosts at the same time, for each one after the other.
    ///   - coordinator: What is shared with other requests: it says whether a host is reachable and when it may be asked again. Ending it
    ///     ends this, too.
    ///   - report: Called after each event, one after the other for each host. Keep it short.
    /// - Throws: ``OutboxError`` when the file cannot be read or written any more. What was delivered and could not be
    ///   written down will be sent again, with the same key.
    public func run(
        sender: some OutboxSender,
        coordinator: RetryCoordinator = .shared,
        report: @escaping @Sendable (OutboxEvent) -> Void = { _ in }
    ) async throws(OutboxError) {
        let lock = try store.openLock()
        let bell = FileBell(store.lockFile)
        defer { bell?.cancel() }
        guard try await waitToSend(with: lock, bell) else { return }
        defer { withExtendedLifetime(lock) {} }
        try await store.returnClaimed()
        let work = Dispatcher(store: store, sender: sender, coordinator: coordinator, report: report)
        if let error = await work.run(bell) { throw error }
    }

    /// Waits until nobody else sends. The kernel rings a moment before it takes the lock away from a process that was killed: so a second
    /// look follows each ring. Says whether to send, which is not so in a task that was cancelled.
    private func waitToSend(with lock: borrowing FileLock, _ bell: FileBell?) async throws(OutboxError) -> Bool {
        while !Task.isCancelled {
            if try store.tryToSend(with: lock) { return true }
            if let bell {
                for await _ in bell.rings { break }
                if try store.tryToSend(with: lock) { return true }
            }
            await options.clock.pause(max(options.pollInterval, .milliseconds(1)))
        }
        return false
    }

    /// Sends once what can be sent now: nothing to hosts that are not reachable, and nothing more to a host that did not take
    /// a request.
    ///
    /// - Returns: How many requests are left.
    /// - Throws: ``OutboxError/alreadySending(file:)`` when another outbox sends; ``OutboxError`` when the file cannot be read
    ///   or written.
    @discardableResult
    public func flush(
        sender: some OutboxSender,
        coordinator: RetryCoordinator = .shared,
        report: @escaping @Sendable (OutboxEvent) -> Void = { _ in }
    ) async throws(OutboxError) -> Int {
        guard let lock = try await store.lockForSending() else { throw .alreadySending(file: file) }
        defer { withExtendedLifetime(lock) {} }
        try await store.returnClaimed()
        let work = Dispatcher(store: store, sender: sender, coordinator: coordinator, report: report)
        if let error = await work.flush() { throw error }
        return try await store.entries().count
    }
}
