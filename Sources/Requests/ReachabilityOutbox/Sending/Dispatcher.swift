import LinuxPrimitives
import Logging
import ReachabilityRetry

/// Lets every origin that requests wait for have a runner of its own.
struct Dispatcher: Sendable {
    let store: OutboxStore
    let sender: any OutboxSender
    let verdicts: any VerdictSource
    let report: @Sendable (OutboxEvent) -> Void

    private enum Event: Sendable {
        /// It is time to look for new origins.
        case signalled
        case ended(origin: String, OriginRunner.End)
    }

    /// Works until the task is cancelled, which gives nil, or something fails.
    func run(_ signal: WakeSignal, _ bell: FileBell?) async -> OutboxError? {
        let (signals, continuation) = signal.subscribe()
        let (clock, pause) = (store.options.clock, store.options.pollInterval)
        let places = Places(store.options.maximumConcurrentHosts)
        return await withTaskGroup(of: Event.self) { group in
            // What other processes put in sends no signal, but rings.
            group.addTask {
                if let bell {
                    for await _ in bell.rings { continuation.yield() }
                } else {
                    while !Task.isCancelled {
                        await clock.pause(max(pause, .milliseconds(1)))
                        continuation.yield()
                    }
                }
                return .signalled
            }
            continuation.yield()
            addSignal(signals, to: &group)
            var origins: Set<String> = []
            var failure: OutboxError?
            var expiry: Task<Void, Never>?
            while let event = await group.next() {
                switch event {
                case .signalled: break
                case .ended(let origin, let end):
                    origins.remove(origin)
                    if case .failed(let error) = end { failure = failure ?? error }
                }
                do throws(OutboxError) {
                    if failure == nil, !Task.isCancelled {
                        try await start(&group, &origins, places)
                        expiry?.cancel()
                        expiry = try await signalExpiry(continuation)
                    }
                } catch {
                    failure = error
                }
                if failure != nil { group.cancelAll() }
                if case .signalled = event, !Task.isCancelled, failure == nil { addSignal(signals, to: &group) }
            }
            expiry?.cancel()
            await expiry?.value
            return failure
        }
    }

    /// Sends once what can be sent now.
    func flush() async -> OutboxError? {
        let places = Places(store.options.maximumConcurrentHosts)
        do throws(OutboxError) {
            try await reportExpired()
            let queues = try await store.queues()
            return await withTaskGroup(of: OriginRunner.End.self) { group in
                for queue in queues {
                    group.addTask { await runner(queue, places).flush() }
                }
                var failure: OutboxError?
                for await case .failed(let error) in group {
                    failure = failure ?? error
                    group.cancelAll()
                }
                return failure
            }
        } catch {
            return error
        }
    }

    private func start(
        _ group: inout TaskGroup<Event>,
        _ origins: inout Set<String>,
        _ places: Places
    ) async throws(OutboxError) {
        try await reportExpired()
        for queue in try await store.queues() where origins.insert(queue.origin).inserted {
            group.addTask { .ended(origin: queue.origin, await runner(queue, places).run()) }
        }
    }

    /// Signals when the next of what waits expires, but after an hour at the latest, for the system's clock may be set meanwhile.
    private func signalExpiry(
        _ continuation: AsyncStream<Void>.Continuation
    ) async throws(OutboxError) -> Task<Void, Never>? {
        guard let time = try await store.nextExpiry() else { return nil }
        let delay = Duration.milliseconds(min(max(time - store.now, 1), 3_600_000))
        return Task { [clock = store.options.clock] in
            await clock.pause(delay)
            if !Task.isCancelled { continuation.yield() }
        }
    }

    private func addSignal(_ signals: AsyncStream<Void>, to group: inout TaskGroup<Event>) {
        group.addTask {
            for await _ in signals { break }
            return .signalled
        }
    }

    private func runner(_ queue: OutboxQueue, _ places: Places) -> OriginRunner {
        OriginRunner(
            queue: queue,
            store: store,
            sender: sender,
            watch: HostWatch(queue.host, verdicts, clock: store.options.clock),
            places: places,
            report: report
        )
    }

    private func reportExpired() async throws(OutboxError) {
        let entries = try await store.expired()
        guard !entries.isEmpty else { return }
        for entry in entries {
            store.options.logger?.warning("expired", metadata: ["request": "\(entry)"])
            report(.expired(entry))
        }
        try await store.deleteExpired(entries)
    }
}

/// Wakes whoever sends when its own process has put something in. Signals while nobody waits count as one.
struct WakeSignal: Sendable {
    private let continuation: Locked<AsyncStream<Void>.Continuation?> = Locked(nil)

    func send() {
        continuation.withLock { $0 }?.yield()
    }

    /// The signals from now on; earlier subscribers get no more.
    func subscribe() -> (signals: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation) {
        let (stream, new) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.withLock { $0 = new }
        return (stream, new)
    }
}
