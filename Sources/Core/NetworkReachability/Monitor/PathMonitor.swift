package import Dispatch
import LinuxPrimitives
package import Logging
package import Netlink

/// One network namespace, watched for every manager in the process: two descriptors, one evaluation for each distinct
/// target, one serial queue that produces everything in order.
///
/// The kernel is the state. An event is a bell, never the news itself: whatever rings, the answer comes from a fresh route
/// lookup and link query. So a lost event is one more ring, and no storm can leave a wrong answer. Please keep it so.
package final class PathMonitor: Sendable {
    package let queue: DispatchQueue
    let surroundings: Surroundings
    let logger: Logger?
    /// Held during an evaluation, so that evaluations have an order; never while anybody is told.
    let session: Locked<MonitorSession>
    /// Held for moments only, never during an evaluation.
    let state: Locked<MonitorState> = Locked(MonitorState())
    /// Its own lock: listeners are called on many threads, and none of them may hold the monitor up.
    let calls: Locked<ListenerTally> = Locked(ListenerTally())

    /// Connects at once, in the calling thread's network namespace; what cannot be opened is tried again later.
    package init(surroundings: Surroundings, logger: Logger? = nil) {
        self.surroundings = surroundings
        self.logger = logger
        // One queue for each namespace, so an overcommit one is no danger; the threads of the global queues wake every second
        // to see whether there are enough of them.
        queue = DispatchQueue(label: "NetworkReachability.monitor")
        session = Locked(MonitorSession(kernel: surroundings.kernel))
        watchNamespace()
        session.withLock { _ = try? $0.connect() }
    }

    /// Why the kernel cannot be asked, if it cannot.
    package var failure: NetlinkError? { session.withLock { $0.failure } }

    package var statistics: MonitorStatistics {
        var statistics = state.withLock { $0.statistics }
        calls.withLock { $0.add(to: &statistics) }
        return statistics
    }

    /// Runs `action` on the queue, after whatever is there already.
    func soon(_ action: @escaping @Sendable () -> Void) {
        surroundings.clock.soon(on: queue, action)
    }

    /// The path to a target now, asked of the kernel on the calling thread.
    func path(to record: TargetRecord, waitingForName limit: Duration) -> NetworkPath {
        record.name?.prepare(waitingAtMost: limit)
        let (evaluations, wasLost, lookups) = session.withLock { session in
            let wasListening = session.isListening
            let evaluations = session.evaluate([record])
            return (evaluations, wasListening && !session.isListening, session.takeLookups())
        }
        state.withLock { $0.statistics.lookups += lookups }
        // This question found the connection broken and let go of it; those who listen would hear nothing any more.
        if wasLost { soon { [weak self] in self?.lookAtEverything() } }
        return evaluations.first?.path ?? NetworkPath()
    }
}

// MARK: - Targets

extension PathMonitor {
    /// The record of a target, shared with everybody who means the same until each of them has released it.
    package func claim(_ target: Target) -> TargetRecord {
        let candidate = makeRecord(target)
        return state.withLock { state in
            let known = state.records[target]
            let record = known ?? candidate
            record.claim()
            if known == nil { state.records.insert(candidate) }
            return record
        }
    }

    /// Uses a record once more, which somebody else uses.
    func claim(_ record: TargetRecord) {
        state.withLock { _ in record.claim() }
    }

    /// Ends one use of a record; with the last one its target is forgotten.
    package func release(_ record: TargetRecord) {
        state.withLock { state in
            if record.release() { state.records.remove(record) }
        }
    }

    private func makeRecord(_ target: Target) -> TargetRecord {
        guard case .name(let name, let interval) = target.destination else {
            return TargetRecord(target: target, monitor: self, name: nil)
        }
        let changed: @Sendable () -> Void = { [weak self] in self?.addressesChanged(of: target) }
        let record = NameRecord(
            name: name,
            interval: interval,
            surroundings: surroundings,
            queue: queue,
            changed: changed
        )
        return TargetRecord(target: target, monitor: self, name: record)
    }
}
