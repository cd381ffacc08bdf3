/// Work in a child task that can be cancelled before the others of its group.
struct Errand: Sendable {
    private let stop: AsyncStream<Never>.Continuation

    init(in group: inout DiscardingTaskGroup, _ work: @escaping @Sendable () async -> Void) {
        let (stopped, stop) = AsyncStream.makeStream(of: Never.self)
        self.stop = stop
        group.addTask {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await work() }
                group.addTask { for await _ in stopped {} }
                // Whichever ends first ends the other.
                await group.next()
                group.cancelAll()
            }
        }
    }

    func cancel() { stop.finish() }
}
