import LinuxSupport
import Logging
import ReachabilityRetry

/// Starts one feed for each origin with waiting requests.
struct Dispatcher: Sendable {
    let store: OutboxStore
    let sender: any OutboxSender
    let coordinator: RetryCoordinator
    let report: @Sendable (OutboxEvent) -> Void

    private enum Event: Sendable {
        /// Check for new origins.
        case signalled
        case ended(origin: String, OriginFeed.End)
    }

    /// Sends until the task is cancelled or the coordinator is shut down, and then returns nil. Returns the error if
    /// one occurs.
    func run(_ signal: FileChangeSignal?) async -> OutboxError? {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (clock, pause) = (store.options.clock, store.options.pollInterval)
        let places = Places(store.options.maximumConcurrentHosts)
        return await withTaskGroup(of: Event.self) { group in
            group.addTask {
                if let signal {
                    for await _ in signal.signals { continuation.yield() }
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
            var isStopped = false
            var isOver: Bool { failure != nil || isStopped || Task.isCancelled }
            while let event = await group.next() {
                switch event {
                case .signalled: break
                case .ended(let origin, let end):
                    origins.remove(origin)
                    switch end {
                    case .idle: break
                    case .stopped: isStopped = true
                    case .failed(let error): failure = failure ?? error
                    }
                }
                do throws(OutboxError) {
                    if !isOver {
                        try await start(&group, &origins, places)
                        expiry?.cancel()
                        expiry = try await signalExpiry(continuation)
                    }
                } catch {
                    failure = error
                }
                if isOver { group.cancelAll() }
                if case .signalled = event, !isOver { addSignal(signals, to: &group) }
            }
            expiry?.cancel()
            await expiry?.value
            return failure
        }
    }

    /// Sends once each request that can be sent now.
    func flush() async -> OutboxError? {
        let places = Places(store.options.maximumConcurrentHosts)
        do throws(OutboxError) {
            try await reportExpired()
            let queues = try await store.queues()
            return await withTaskGroup(of: OriginFeed.End.self) { group in
                for queue in queues {
                    group.addTask { await feed(queue, places).flush() }
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
            group.addTask { .ended(origin: queue.origin, await feed(queue, places).run()) }
        }
    }

    /// Signals when the next waiting request expires, but after an hour at the latest, because the system's clock may
    /// be set meanwhile.
    private func signalExpiry(
        _ continuation: AsyncStream<Void>.Continuation
    ) async throws(OutboxError) -> Task<Void, Never>? {
        guard let time = try await store.nextExpiry() else { return nil }
        let delay = min(max(Duration.milliseconds(time) - .milliseconds(store.now), .milliseconds(1)), .seconds(3600))
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

    private func feed(_ queue: OutboxQueue, _ places: Places) -> OriginFeed {
        OriginFeed(
            queue: queue,
            store: store,
            sender: sender,
            coordinator: coordinator,
            places: places,
            report: report
        )
    }

    private func reportExpired() async throws(OutboxError) {
        let entries = try await store.expired()
        guard !entries.isEmpty else { return }
        for entry in entries {
            store.options.logger?.warning("request expired", metadata: ["request": "\(entry)"])
            report(.expired(entry))
        }
        try await store.deleteExpired(entries)
    }
}

/// A grace period for work whose task was cancelled.
enum Drain {
    /// Runs `work` in a task that is cancelled `limit` after the current task. Returns when it has ended. No task
    /// remains.
    static func run<Value: Sendable>(
        for limit: Duration,
        clock: any Clock<Duration>,
        _ work: @escaping @Sendable () async -> Value
    ) async -> Value {
        // A child task would be cancelled immediately with the current one.
        let working = Task { await work() }
        let timer: Locked<Task<Void, Never>?> = Locked(nil)
        let value = await withTaskCancellationHandler {
            await working.value
        } onCancel: {
            let task = Task {
                await clock.pause(limit)
                working.cancel()
            }
            timer.withLock { $0 = task }
        }
        if let timer = timer.withLock({ $0 }) {
            timer.cancel()
            await timer.value
        }
        return value
    }
}

extension Clock<Duration> {
    /// Waits for a duration, or up to a tenth longer if that saves a wake-up. Returns early if the task is cancelled.
    func pause(_ duration: Duration) async {
        try? await sleep(for: duration, tolerance: duration / 10)
    }
}

/// A limit of the number of concurrent tasks. The other tasks wait in first-come, first-served order.
final class Places: Sendable {
    private struct State {
        var free: Int
        var waiting: [(id: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
        var next: UInt64 = 0
    }

    private let state: Locked<State>

    init(_ count: Int) {
        state = Locked(State(free: max(1, count)))
    }

    /// Waits for a free place. Returns false, without a place, if the task is cancelled.
    func take() async -> Bool {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    guard state.free == 0 else {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiting: CheckedContinuation<Bool, Never>? = state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return nil }
                return state.waiting.remove(at: index).continuation
            }
            waiting?.resume(returning: false)
        }
    }

    func release() {
        let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
