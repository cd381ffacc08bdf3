import Dispatch
import LinuxSupport
package import Logging
import NetworkReachability
package import ReachabilityLedger

/// Writes what happens into the history, behind everything else: nobody waits for it, and what cannot be written now is kept in memory
/// and tried again.
///
/// What came while a transaction was under way goes into the next, together. So a transition is on the disk a few milliseconds after it
/// happened, and a burst of them costs little more than one.
package final class HistoryWriter: Sendable {
    /// How it stands.
    package struct Status: Sendable {
        /// Why it cannot be written now; nil where it can.
        package var fault: HistoryFault?
        /// Events that are not on the disk yet, those that are about to be told to the writer too.
        package var pending = 0
        /// Events that were written.
        package var written: UInt64 = 0
        /// Events that were let go of, for there were too many.
        package var lost: UInt64 = 0
    }

    /// How long what is kept, and how often it is said that the service lives.
    package struct Options: Sendable {
        package var keep = Duration.seconds(400 * 86400)
        package var mark = Duration.seconds(300)
        /// The same while an outage lasts, so that a service that is killed and started again can continue it.
        package var outageMark = Duration.seconds(10)
        /// How many bytes of the file may be in use.
        package var maximumSize = 256 << 20

        package init() {}
    }

    private struct State {
        var status = Status()
        var options: Options
        var pending: [ServiceEvent] = []
        /// The number of the last event that was heard of.
        var lastHeard: UInt64 = 0
        var isFlushing = false
        /// Whether it will be tried again by itself.
        var isRetrying = false
        var store: HistoryStore?
        var run: Int64?
        var pens: [String: HistoryStore.Pen] = [:]
        /// Whether the file was lost, and what this run knows is to be written into another.
        var isLost = false
        /// The number of the last event that was written with all the others when the file had been lost.
        var lastRetold: UInt64 = 0
        var isOver = false
        /// Whether it was said that the file had grown too large.
        var isLimited = false
        var listener: Cancellation?
    }

    package let file: String
    /// Receives each fault once, and its end.
    private let logger: Logger?
    private let queue = DispatchQueue(label: "ReachabilityService.history")
    private let state: Locked<State>
    private let timer = Locked<(any DispatchSourceTimer)?>(nil)
    /// Set while an outage lasts.
    private let outageTimer = Locked<(any DispatchSourceTimer)?>(nil)
    private let service = Locked<WeakService>(WeakService())

    private struct WeakService: Sendable {
        weak var service: MonitoringService?
    }

    package init(
        _ file: String,
        _ options: Options = Options(),
        logger: Logger? = nil
    ) {
        (self.file, self.logger) = (file, logger)
        state = Locked(State(options: options))
    }

    package var status: Status {
        let last = service.withLock(\.service)?.lastNumber ?? 0
        return state.withLock { state in
            var status = state.status
            if last > state.lastHeard { status.pending += Int(last - state.lastHeard) }
            return status
        }
    }

    /// What this run is called in the file; nil until it has begun there.
    package var run: Int64? { state.withLock(\.run) }

    /// The file to read from; nil while it cannot be used.
    package var store: HistoryStore? { state.withLock(\.store) }

    // MARK: From the beginning to the end

    /// Opens the file, and returns what it knows of the time before; nothing where it cannot be used.
    package func resume(bootIdentifier: String) -> HistoryStore.Resume {
        queue.sync {
            guard let store = open() else { return HistoryStore.Resume() }
            do {
                return try store.resume(bootIdentifier: bootIdentifier)
            } catch {
                fail(HistoryFault(error, file: file))
                return HistoryStore.Resume()
            }
        }
    }

    /// Writes down what becomes of a service from now on, until ``stop(at:)``.
    package func follow(_ service: MonitoringService) {
        self.service.withLock { $0.service = service }
        state.withLock { $0.lastHeard = service.lastNumber }
        let listener = service.addListener { [weak self] events in self?.take(events) }
        state.withLock { $0.listener = listener }
        schedule()
        let mark = state.withLock(\.options.mark)
        timer.withLock { timer in
            let made = DispatchSource.makeTimerSource(queue: queue)
            made.schedule(deadline: .now() + mark.dispatch, repeating: mark.dispatch, leeway: (mark / 10).dispatch)
            made.setEventHandler { [weak self] in self?.markNow() }
            made.activate()
            timer = made
        }
    }

    /// Writes what is left, and that the service ended then, if that is to be said.
    package func stop(at instant: LedgerInstant?) {
        service.withLock(\.service)?.deliver()
        let listener = state.withLock { $0.listener.take() }
        listener?.cancel()
        timer.withLock { $0.take()?.cancel() }
        outageTimer.withLock { $0.take()?.cancel() }
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

    /// Tries to write all there is, and waits for that.
    package func flush() {
        service.withLock(\.service)?.deliver()
        queue.sync { flushNow() }
    }

    /// Calls `done` when what was to be written before was written, or could not be.
    package func pass(_ done: @escaping @Sendable () -> Void) {
        queue.async(execute: done)
    }

    /// Says that the service lives, deletes what is too old, and waits for that.
    package func mark() {
        queue.sync { markNow() }
    }

    // MARK: Writing

    private static let pendingLimit = 100_000

    private func take(_ events: [ServiceEvent]) {
        state.withLock { state in
            state.lastHeard = max(state.lastHeard, events.last?.number ?? 0)
            state.pending += events.filter { $0.number > state.lastRetold }
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

    /// On the queue.
    private func flushNow() {
        state.withLock { $0.isFlushing = false }
        guard let service = service.withLock(\.service), let store = open() else { return }
        do {
            let line = service.snapshot.calendar.current.line
            let run = try begin(store, service)
            if state.withLock(\.isLost) { try retell(service, into: store, run, line) }
            while true {
                let (events, before) = state.withLock { (Array($0.pending.prefix(1000)), $0.pens) }
                if events.isEmpty { break }
                var pens = before
                try store.write(events, run: run, line: line, &pens)
                let after = pens
                state.withLock { state in
                    // What was let go of meanwhile was written.
                    state.pending.removeFirst(min(events.count, state.pending.count))
                    state.pens = after
                    state.status.pending = state.pending.count
                    state.status.written += UInt64(events.count)
                }
            }
            succeed()
            markOutages(of: service)
        } catch {
            fail(HistoryFault(error, file: file))
        }
    }

    /// Marks more often while an outage lasts. On the queue.
    private func markOutages(of service: MonitoringService) {
        let lasts = service.snapshot.books.accounts.values.contains { $0.ledger.outage != nil }
        let interval = state.withLock { $0.isOver ? nil : $0.options.outageMark }
        outageTimer.withLock { timer in
            guard let interval, lasts else {
                timer.take()?.cancel()
                return
            }
            if timer != nil { return }
            let made = DispatchSource.makeTimerSource(queue: queue)
            made.schedule(
                deadline: .now() + interval.dispatch,
                repeating: interval.dispatch,
                leeway: (interval / 10).dispatch
            )
            made.setEventHandler { [weak self] in self?.markAlive() }
            made.activate()
            timer = made
        }
    }

    /// On the queue.
    private func markAlive() {
        let (store, run) = state.withLock { ($0.store, $0.run) }
        guard let service = service.withLock(\.service), let store, let run, status.fault == nil else { return }
        do { try store.mark(run, at: service.snapshot.now) } catch { fail(HistoryFault(error, file: file)) }
    }

    private func begin(_ store: HistoryStore, _ service: MonitoringService) throws -> Int64 {
        let (known, isLost) = state.withLock { ($0.run, $0.isLost) }
        if let known { return known }
        let snapshot = service.snapshot
        if isLost, let last = try store.lastMark(), last > snapshot.now {
            let remedy = "start the service again to go on with it"
            throw HistoryFault(.foreign, file, "it was written at a later time; \(remedy)")
        }
        let run = try store.begin(snapshot.calendar.current.line, at: service.start)
        state.withLock { $0.run = run }
        return run
    }

    /// Writes all that this run knows into a file that is in the place of one that was lost.
    private func retell(_ service: MonitoringService, into store: HistoryStore, _ run: Int64, _ line: TimeLine) throws {
        let snapshot = service.snapshot
        var pens: [String: HistoryStore.Pen] = [:]
        for events in snapshot.retold(service.planned) { try store.write(events, run: run, line: line, &pens) }
        let (written, last) = (pens, snapshot.books.lastNumber)
        state.withLock { state in
            (state.pens, state.isLost, state.lastRetold) = (written, false, last)
            // What is of targets that are watched no more is known here alone.
            state.pending.removeAll { event in
                event.number <= last && event.target.map { written[$0] != nil } ?? true
            }
            state.status.pending = state.pending.count
        }
    }

    private func markNow() {
        flushNow()
        guard let service = service.withLock(\.service) else { return }
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
            let text = "was larger than \(options.maximumSize) bytes: of its oldest days only the sums are kept"
            logger?.warning("the history \(file.printable) \(text)")
        } catch {
            fail(HistoryFault(error, file: file))
        }
    }

    /// On the queue.
    private func writeChecks() {
        let (store, run) = state.withLock { ($0.store, $0.run) }
        guard let log = service.withLock(\.service)?.checkLog, let store, let run, status.fault == nil else { return }
        let buckets = log.takeUnwritten()
        do {
            try store.write(buckets, run: run)
        } catch {
            log.putBack(buckets)
            fail(HistoryFault(error, file: file))
        }
    }

    // MARK: Faults

    private func open() -> HistoryStore? {
        let (store, isOver) = state.withLock { ($0.store, $0.isOver) }
        if isOver { return nil }
        if let store {
            if store.isInPlace { return store }
            lose()
            let remedy = "it is begun anew with what is known of this run"
            logger?.warning("the history \(file.printable) was deleted or moved away: \(remedy)")
        }
        do {
            let store = try HistoryStore(file)
            state.withLock { $0.store = store }
            return store
        } catch {
            fail(error)
            return nil
        }
    }

    /// Lets go of a file that is damaged, or not there any more.
    private func lose() {
        let store = state.withLock { state in
            (state.run, state.pens, state.isLost) = (nil, [:], true)
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

    /// Says it once, and tries again later, unless nothing would be gained.
    private func fail(_ fault: HistoryFault) {
        let previous = state.withLock { state in
            defer { state.status.fault = fault }
            return state.status.fault
        }
        if previous != fault { logger?.warning("\(fault.text)") }
        switch fault.kind {
        case .foreign: return lose()
        case .corrupt:
            lose()
            try? DatabaseFile.setAside(file)
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

    private static let retryPause = DispatchTimeInterval.seconds(5)
}

extension Duration {
    fileprivate var dispatch: DispatchTimeInterval { .nanoseconds(Int(nanoseconds)) }
}
