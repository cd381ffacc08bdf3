import Dispatch
import LinuxSupport
package import Logging
import NetworkReachability
package import ReachabilityLedger

/// A writer that stores events in the history on a background queue. Thread-safe.
///
/// Events that cannot be written stay in memory and are written later. Events that arrive during a transaction are written together in the
/// next one. Therefore an event is on the disk after a few milliseconds, and a burst takes little longer than one event.
package final class HistoryWriter: Sendable {
    /// The state of the writer.
    package struct Status: Sendable {
        /// The error of the last attempt to write; nil if it succeeded.
        package var fault: HistoryError?
        /// The number of events that are not on the disk. It includes events that the writer has not received yet.
        package var pending = 0
        /// The number of events that were written.
        package var written: UInt64 = 0
        /// The number of events that were dropped because too many were pending.
        package var lost: UInt64 = 0
    }

    /// The settings of the writer.
    package struct Options: Sendable {
        /// The retention time of intervals.
        package var keep = Duration.seconds(400 * 86400)
        /// The interval at which the writer records that the service is running.
        package var mark = Duration.seconds(300)
        /// The value of ``mark`` during an outage. It is shorter, so that a service that is killed and restarted can continue the outage.
        package var outageMark = Duration.seconds(10)
        /// The maximum number of bytes in use in the file.
        package var maximumSize = 256 << 20

        package init() {}
    }

    private struct State {
        var status = Status()
        var options: Options
        var pending: [ServiceEvent] = []
        /// The number of the last event that was received.
        var lastReceived: UInt64 = 0
        var isFlushing = false
        /// A Boolean value that indicates whether another attempt is scheduled.
        var isRetrying = false
        var store: HistoryStore?
        var run: Int64?
        var cursors: [String: HistoryStore.Cursor] = [:]
        /// A Boolean value that indicates whether the file was lost, so that all events of this run have to be written to a new one.
        var isLost = false
        /// The number of the last event that the replay to a new file covered.
        var lastReplayed: UInt64 = 0
        var isOver = false
        /// A Boolean value that indicates whether the log already has a message about the maximum size.
        var isLimited = false
        var listener: Cancellation?
        weak var service: MonitoringService?
        var timer: (any DispatchSourceTimer)?
        /// The timer for ``Options/outageMark``, which runs during an outage.
        var outageTimer: (any DispatchSourceTimer)?
    }

    /// The path of the file.
    package let file: String
    /// The logger for each new fault and for its end.
    private let logger: Logger?
    private let queue = DispatchQueue(label: "ReachabilityService.history")
    private let state: Locked<State>

    package init(
        _ file: String,
        _ options: Options = Options(),
        logger: Logger? = nil
    ) {
        (self.file, self.logger) = (file, logger)
        state = Locked(State(options: options))
    }

    /// The state of the writer.
    package var status: Status {
        let last = state.withLock(\.service)?.lastNumber ?? 0
        return state.withLock { state in
            var status = state.status
            if last > state.lastReceived { status.pending += Int(last - state.lastReceived) }
            return status
        }
    }

    /// The id of this run in the history; nil before the first successful write.
    package var run: Int64? { state.withLock(\.run) }

    /// The history for readers; nil while it cannot be used.
    package var store: HistoryStore? { state.withLock(\.store) }

    // MARK: Life cycle

    /// Opens the file and returns the state that earlier runs stored. Blocks. The result is empty if the file cannot be used.
    package func resume(bootIdentifier: String) -> HistoryStore.Resume {
        queue.sync {
            guard let store = open() else { return HistoryStore.Resume() }
            do {
                return try store.resume(bootIdentifier: bootIdentifier)
            } catch {
                fail(HistoryError(error, file: file))
                return HistoryStore.Resume()
            }
        }
    }

    /// Writes the events of a service until ``stop(at:)``.
    package func follow(_ service: MonitoringService) {
        let last = service.lastNumber
        state.withLock { ($0.service, $0.lastReceived) = (service, last) }
        let listener = service.addListener { [weak self] events in self?.take(events) }
        state.withLock { $0.listener = listener }
        schedule()
        state.withLock { state in
            state.timer = makeTimer(state.options.mark) { [weak self] in self?.markNow() }
        }
    }

    /// Returns a running timer that calls an action on the queue.
    private func makeTimer(_ interval: Duration, _ action: @escaping @Sendable () -> Void) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(
            deadline: .now() + interval.dispatch,
            repeating: interval.dispatch,
            leeway: (interval / 10).dispatch
        )
        timer.setEventHandler(handler: action)
        timer.activate()
        return timer
    }

    /// Writes all pending events and closes the file. Blocks.
    ///
    /// - Parameter instant: The orderly end of the service. If nil, no end is recorded.
    package func stop(at instant: LedgerInstant?) {
        state.withLock(\.service)?.deliver()
        let listener = state.withLock { state in
            state.timer?.cancel()
            state.outageTimer?.cancel()
            (state.timer, state.outageTimer) = (nil, nil)
            return state.listener.take()
        }
        listener?.cancel()
        queue.sync {
            flushNow()
            writeChecks()
        }
        queue.sync {
            let (store, run) = state.withLock { state in
                state.isOver = true
                defer { state.store = nil }
                return (state.store, state.run)
            }
            if let run, let instant { try? store?.end(run, at: instant) }
            store?.close()
        }
    }

    /// Tries to write all pending events. Blocks until the attempt has ended.
    package func flush() {
        state.withLock(\.service)?.deliver()
        queue.sync { flushNow() }
    }

    /// Calls `done` on the queue of the writer, after the attempt to write all earlier events.
    package func pass(_ done: @escaping @Sendable () -> Void) {
        queue.async(execute: done)
    }

    /// Records that the service is running and deletes old data. Blocks until this is done.
    package func mark() {
        queue.sync { markNow() }
    }

    // MARK: Writing

    /// The maximum number of pending events. Above it, the oldest half is dropped.
    private static let pendingLimit = 100_000

    private func take(_ events: [ServiceEvent]) {
        state.withLock { state in
            state.lastReceived = max(state.lastReceived, events.last?.number ?? 0)
            state.pending += events.filter { $0.number > state.lastReplayed }
            if state.pending.count > Self.pendingLimit {
                let surplus = state.pending.count - Self.pendingLimit / 2
                state.pending.removeFirst(surplus)
                state.status.lost += UInt64(surplus)
            }
            state.status.pending = state.pending.count
        }
        schedule()
    }

    private func schedule() {
        let isFirst = state.withLock { state in
            defer { state.isFlushing = true }
            return !state.isFlushing && state.status.fault == nil
        }
        if isFirst { queue.async { [weak self] in self?.flushNow() } }
    }

    // The following functions run on the queue.

    private func flushNow() {
        state.withLock { $0.isFlushing = false }
        guard let service = state.withLock(\.service), let store = open() else { return }
        do {
            let line = service.snapshot.calendar.current.line
            let run = try begin(store, service)
            if state.withLock(\.isLost) { try replay(service, into: store, run, line) }
            while true {
                let (events, before) = state.withLock { (Array($0.pending.prefix(1000)), $0.cursors) }
                if events.isEmpty { break }
                var cursors = before
                try store.write(events, run: run, line: line, &cursors)
                let after = cursors
                state.withLock { state in
                    // Events that were dropped during the transaction were written by it.
                    state.pending.removeFirst(min(events.count, state.pending.count))
                    state.cursors = after
                    state.status.pending = state.pending.count
                    state.status.written += UInt64(events.count)
                }
            }
            succeed()
            markOutages(of: service)
        } catch {
            fail(HistoryError(error, file: file))
        }
    }

    /// Starts the timer for ``Options/outageMark`` during an outage, and stops it otherwise.
    private func markOutages(of service: MonitoringService) {
        let lasts = service.snapshot.accounting.accounts.values.contains { $0.ledger.outage != nil }
        state.withLock { state in
            guard !state.isOver, lasts else {
                state.outageTimer.take()?.cancel()
                return
            }
            state.outageTimer =
                state.outageTimer ?? makeTimer(state.options.outageMark) { [weak self] in self?.markAlive() }
        }
    }

    private func markAlive() {
        let (store, run) = state.withLock { ($0.store, $0.run) }
        guard let service = state.withLock(\.service), let store, let run, status.fault == nil else { return }
        do { try store.mark(run, at: service.snapshot.now) } catch { fail(HistoryError(error, file: file)) }
    }

    private func begin(_ store: HistoryStore, _ service: MonitoringService) throws -> Int64 {
        let (known, isLost) = state.withLock { ($0.run, $0.isLost) }
        if let known { return known }
        let snapshot = service.snapshot
        if isLost, let last = try store.lastMark(), last > snapshot.now {
            let remedy = "restart the service to use it"
            throw HistoryError(.foreign, file, "it has entries after the current time; \(remedy)")
        }
        let run = try store.begin(snapshot.calendar.current.line, at: service.start)
        state.withLock { $0.run = run }
        return run
    }

    /// Writes all events of this run that are in memory to a new file.
    private func replay(_ service: MonitoringService, into store: HistoryStore, _ run: Int64, _ line: TimeLine) throws {
        let snapshot = service.snapshot
        var cursors: [String: HistoryStore.Cursor] = [:]
        for events in snapshot.replayed(service.planned) { try store.write(events, run: run, line: line, &cursors) }
        let (written, last) = (cursors, snapshot.accounting.lastNumber)
        state.withLock { state in
            (state.cursors, state.isLost, state.lastReplayed) = (written, false, last)
            // Pending events of removed targets are kept, because the accounts in memory no longer include them.
            state.pending.removeAll { event in
                event.number <= last && event.target.map { written[$0] != nil } ?? true
            }
            state.status.pending = state.pending.count
        }
    }

    private func markNow() {
        flushNow()
        guard let service = state.withLock(\.service) else { return }
        let (store, run, options) = state.withLock { ($0.store, $0.run, $0.options) }
        guard let store, let run, status.fault == nil else { return }
        let now = service.snapshot.now
        do {
            try store.mark(run, at: now)
            writeChecks()
            while try store.sumDays(now) {}
            try store.deleteOld(keeping: options.keep, now)
            let hasLimited = try store.limit(to: options.maximumSize, now)
            let isFirst = state.withLock { state in
                defer { state.isLimited = state.isLimited || hasLimited }
                return hasLimited && !state.isLimited
            }
            guard isFirst else { return }
            let text = "exceeded \(options.maximumSize) bytes; of the oldest days only the daily sums are kept"
            logger?.warning("the history \(file.printable) \(text)")
        } catch {
            fail(HistoryError(error, file: file))
        }
    }

    private func writeChecks() {
        let (store, run) = state.withLock { ($0.store, $0.run) }
        guard let log = state.withLock(\.service)?.checkLog, let store, let run, status.fault == nil else { return }
        let buckets = log.takeUnwritten()
        do {
            try store.write(buckets, run: run)
        } catch {
            log.putBack(buckets)
            fail(HistoryError(error, file: file))
        }
    }

    // MARK: Faults

    private func open() -> HistoryStore? {
        let (store, isOver) = state.withLock { ($0.store, $0.isOver) }
        if isOver { return nil }
        if let store {
            if store.isInPlace { return store }
            discardStore()
            let remedy = "a new file is created with the events of this run that are in memory"
            logger?.warning("the history \(file.printable) was deleted or moved away; \(remedy)")
        }
        do {
            let store = try HistoryStore(file)
            if let warning = store.database.warning { logger?.warning("\(warning)") }
            state.withLock { $0.store = store }
            return store
        } catch {
            fail(error)
            return nil
        }
    }

    /// Closes a file that is damaged or was moved, so that the next attempt opens a new one.
    private func discardStore() {
        let store = state.withLock { state in
            (state.run, state.cursors, state.isLost) = (nil, [:], true)
            return state.store.take()
        }
        store?.close()
    }

    private func succeed() {
        let fault = state.withLock { state in
            defer { state.status.fault = nil }
            return state.status.fault
        }
        if fault != nil { logger?.notice("the history \(file.printable) can be written again") }
    }

    /// Logs a fault once and schedules another attempt, except for a file of another program.
    private func fail(_ fault: HistoryError) {
        let previous = state.withLock { state in
            defer { state.status.fault = fault }
            return state.status.fault
        }
        if previous != fault { logger?.warning("\(fault.text)") }
        switch fault.kind {
        case .foreign: return discardStore()
        case .corrupt:
            discardStore()
            _ = try? DatabaseFile.setAside(file, HistoryStore.schema)
        case .full, .denied, .locked, .failed: break
        }
        let isFirst = state.withLock { state in
            defer { state.isRetrying = true }
            return !state.isRetrying
        }
        guard isFirst else { return }
        queue.asyncAfter(deadline: .now() + Self.retryPause) { [weak self] in
            self?.state.withLock { $0.isRetrying = false }
            self?.flushNow()
        }
    }

    /// The time between an error and the next attempt.
    private static let retryPause = DispatchTimeInterval.seconds(5)
}

extension Duration {
    fileprivate var dispatch: DispatchTimeInterval { .nanoseconds(Int(nanoseconds)) }
}
