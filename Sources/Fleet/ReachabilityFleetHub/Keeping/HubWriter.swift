import Dispatch
import LinuxSupport
package import Logging
package import ReachabilityFleet
package import ReachabilityService

/// The writer that passes messages to a ``Hub`` and saves the decisions. Thread-safe.
///
/// Messages that arrive during a transaction are saved together in the next one. If the store cannot be written,
/// messages wait, and the writer tries again every second. libmosquitto acknowledges messages before they are saved, so
/// messages can be lost if the process is killed. The hub then requests them again from the machines
/// (``Hub/replay(for:)``).
package final class HubWriter: Sendable {
    /// The maximum number of messages that wait in memory.
    package static let pendingLimit = MessageIngest.limit
    /// The maximum number of messages in one transaction.
    static let batchLimit = 1_000

    private struct State {
        var hub: Hub
        /// The changes that are not on disk.
        var unsaved = UnsavedChanges()
        var fault: HistoryError?
        /// The next time at which the hub may decide without a message.
        var deadline: Duration?
    }

    private let store: HubStore
    private let clock: @Sendable () -> Duration
    /// The receivers of decisions. They are called after the decisions are saved, or after saving has failed.
    private let listeners = Locked<[@Sendable ([Hub.Decision], Hub) -> Void]>([])
    private let logger: Logger?
    private let queue = DispatchQueue(label: "ReachabilityFleetHub.writer")
    private let ingest = MessageIngest()
    private let timer = Locked<(any DispatchSourceTimer)?>(nil)
    private let state: Locked<State>

    /// - Parameters:
    ///   - run: The identifier of this process, for ``Hub/init(devices:incidents:run:)``.
    ///   - clock: The hub's clock, since 1970.
    package init(
        _ store: HubStore,
        run: String? = nil,
        clock: @escaping @Sendable () -> Duration = { SystemClock.real },
        logger: Logger? = nil
    ) throws(HistoryError) {
        let contents = try store.contents()
        (self.store, self.clock, self.logger) = (store, clock, logger)
        if let warning = store.database.warning { logger?.warning("\(warning)") }
        if contents.damaged > 0 {
            logger?.warning("records of the history that are damaged and were ignored: \(contents.damaged)")
        }
        state = Locked(State(hub: Hub(devices: contents.devices, incidents: contents.incidents, run: run)))
        timer.withLock { timer in
            let made = DispatchSource.makeTimerSource(queue: queue)
            made.setEventHandler { [weak self] in self?.pass() }
            made.activate()
            timer = made
        }
    }

    deinit { timer.withLock { $0.take()?.cancel() } }

    /// The current state of the hub.
    package var hub: Hub { state.withLock(\.hub) }

    /// The reason why the store cannot be written; nil if it can.
    package var fault: HistoryError? { state.withLock(\.fault) }

    /// Adds a receiver of decisions and of the state after them. It is called on a private queue, in the order of the
    /// decisions.
    package func addListener(_ listener: @escaping @Sendable ([Hub.Decision], Hub) -> Void) {
        listeners.withLock { $0.append(listener) }
    }

    /// Takes messages of one caller. If too many are pending, it blocks for up to 10 s, so that the broker keeps
    /// further messages.
    ///
    /// - Returns: False if the messages were not taken.
    @discardableResult
    package func take(_ messages: [Hub.Message]) -> Bool {
        ingest.take(messages, begin: begin)
    }

    // The next three functions keep their position among the messages: a later message must not be processed before
    // them.

    /// Records that a message of a machine was dropped.
    package func recordDroppedMessage(_ place: DeviceID) { ingest.add(.lost(place), begin: begin) }

    /// Records that the connection to the broker has ended.
    package func brokerDisconnected() { ingest.add(.brokerDisconnected, begin: begin) }

    /// Records that the broker is connected. Call it before the first message of the new connection.
    package func brokerConnected() { ingest.add(.brokerConnected(clock()), begin: begin) }

    private func begin() { queue.async { [weak self] in self?.work() } }

    /// Advances the time. A timer calls it when the hub may decide without a message.
    package func pass() {
        let now = clock()
        queue.async { [weak self] in
            guard let self else { return }
            // Pending messages are processed first. While the store cannot be written, no message is processed, so no
            // machine may become silent either.
            work()
            if state.withLock({ $0.fault == nil }), save(reporting: decide { $0.pass(to: now) }) { work() }
        }
    }

    /// Deletes machines. A later message adds its machine again. If an error is thrown, no machine is deleted.
    ///
    /// - Returns: The machines that were known.
    package func forget(_ places: [DeviceID]) throws(HistoryError) -> [DeviceID] {
        try queue.sync { () -> Result<[DeviceID], HistoryError> in
            work()
            let devices = hub.devices
            let known = places.filter { devices[$0] != nil }
            guard !known.isEmpty else { return .success([]) }
            do throws(HistoryError) { try store.forget(known) } catch { return .failure(error) }
            let decisions = state.withLock { state in
                known.flatMap { place in
                    state.unsaved.devices.remove(place)
                    let decisions = state.hub.forget(place)
                    state.unsaved.add(decisions)
                    return decisions
                }
            }
            if save(reporting: decisions) { work() }
            return .success(known)
        }.get()
    }

    /// Waits until all pending messages are processed and, if possible, saved.
    package func flush() { queue.sync { work() } }

    /// Saves the pending changes if possible, and closes the store.
    package func stop() {
        flush()
        ingest.close()
        timer.withLock { $0.take()?.cancel() }
        store.close()
    }

    // MARK: On the queue

    private func decide(_ body: (inout Hub) -> [Hub.Decision]) -> [Hub.Decision] {
        state.withLock { state in
            let decisions = body(&state.hub)
            state.unsaved.add(decisions)
            state.deadline = state.hub.deadline
            return decisions
        }
    }

    private func work() {
        // While the store cannot be written, messages wait in the ingest queue, so that the unsaved state stays
        // bounded.
        if state.withLock({ $0.fault != nil }), !save(reporting: []) { return }
        while true {
            let batch = ingest.next(Self.batchLimit)
            if batch.isEmpty { return }
            let decisions = batch.flatMap { take($0) }
            guard save(reporting: decisions) else { return }
        }
    }

    private func take(_ item: MessageIngest.Item) -> [Hub.Decision] {
        switch item {
        case .message(let message): take(message)
        case .lost(let place): decide { $0.requireReplay(place) }
        case .brokerDisconnected: decide { $0.brokerDisconnected() }
        case .brokerConnected(let now):
            decide { hub in
                hub.brokerConnected(at: now)
                return []
            }
        }
    }

    private func take(_ message: Hub.Message) -> [Hub.Decision] {
        let store = store
        return state.withLock { state in
            let decisions = state.hub.take(message) { place, outage in
                // If the store cannot be read, reporting an incident twice is better than not reporting it.
                (try? store.hasOutage(outage, of: place)) ?? false
            }
            state.unsaved.add(decisions)
            return decisions
        }
    }

    /// Saves all unsaved changes and calls the receivers.
    ///
    /// - Returns: True if the changes are saved.
    private func save(reporting decisions: [Hub.Decision]) -> Bool {
        let changes = save()
        report(decisions)
        guard let changes else { return false }
        // Old incidents are removed only after the receivers were called, because they may need them.
        state.withLock { state in for site in Set(changes.incidents.map(\.site)) { state.hub.prune(site) } }
        return true
    }

    /// Saves all unsaved changes, and returns them; nil if the store cannot be written.
    private func save() -> HubChanges? {
        let changes: HubChanges
        do throws(HistoryError) {
            if try store.replaceLostFile() {
                state.withLock { $0.unsaved.addAll(of: $0.hub) }
                let content = "the machines and the latest incidents, which are in memory"
                logger?.warning("the history \(store.database.path.printable) was lost; a new file has \(content)")
            }
            changes = state.withLock { $0.unsaved.changes(of: $0.hub) }
            if !changes.isEmpty { try store.save(changes) }
        } catch {
            let isNew = state.withLock { state in
                defer { state.fault = error }
                return state.fault == nil
            }
            if isNew { logger?.warning("\(error.text)") }
            schedule(retrying: true)
            return nil
        }
        let hadFault = state.withLock { state in
            // Only the deadlines of changed machines have changed.
            let deadlines = changes.devices.compactMap(\.deadline)
            if let next = deadlines.min() { state.deadline = min(next, state.deadline ?? next) }
            defer { (state.unsaved, state.fault) = (UnsavedChanges(), nil) }
            return state.fault != nil
        }
        if hadFault { logger?.notice("the history can be written again") }
        schedule(retrying: false)
        return changes
    }

    private func report(_ decisions: [Hub.Decision]) {
        if decisions.isEmpty { return }
        let hub = hub
        for listener in listeners.withLock(\.self) { listener(decisions, hub) }
    }

    private func schedule(retrying: Bool) {
        let now = clock()
        let deadline: Duration? = retrying ? now + .seconds(1) : state.withLock(\.deadline)
        guard let deadline else { return timer.withLock { $0?.schedule(deadline: .distantFuture) } }
        // The timer fires at most once per second, because messages have precedence.
        let wait = max(deadline - now, .seconds(1))
        let milliseconds = Int(min(wait, .seconds(86400)).milliseconds)
        timer.withLock { $0?.schedule(deadline: .now() + .milliseconds(milliseconds)) }
    }
}

/// The machines and incidents that have changed since the last save. Their states are read at the time of saving. A
/// value.
private struct UnsavedChanges {
    var devices: Set<DeviceID> = []
    /// The site of each changed incident and its changed machines, by the id of the incident.
    private var incidents: [String: (site: String, places: Set<DeviceID>)] = [:]

    mutating func add(_ decisions: [Hub.Decision]) {
        for decision in decisions {
            switch decision {
            case .noted(let place), .stands(let place, _), .gap(let place), .disputed(let place): devices.insert(place)
            case .incident(let change):
                incidents[change.incident, default: (change.site, [])].places.insert(change.place)
            case .refused, .replayRequired: break
            }
        }
    }

    /// Adds everything in memory.
    mutating func addAll(of hub: Hub) {
        devices = Set(hub.devices.keys)
        for incident in hub.book.incidents {
            incidents[incident.id] = (incident.site, Set(incident.devices.compactMap { incident.place(of: $0) }))
        }
    }

    /// Returns the current states of the changed machines and incidents.
    func changes(of hub: Hub) -> HubChanges {
        var changes = HubChanges()
        changes.devices = devices.compactMap { hub.devices[$0] }
        for (id, (site, places)) in incidents {
            guard let incident = hub.book.incident(id, at: site) else { continue }
            changes.add(incident, places.map { incident.key(of: $0) })
        }
        return changes
    }
}

/// A queue of the messages that the hub has not processed yet. The number of messages is limited. A caller that exceeds
/// the limit blocks, so that the broker keeps its messages. Thread-safe.
final class MessageIngest: Sendable {
    enum Item {
        case message(Hub.Message)
        /// A message of a machine was dropped.
        case lost(DeviceID)
        /// The connection to the broker has ended, or was established at a time of the hub's clock.
        case brokerDisconnected, brokerConnected(Duration)
    }

    private struct State {
        var waiting: [Item] = []
        /// True if a consumer is running and will call ``next(_:)``.
        var isEmptied = false
        /// True if a caller is blocked until there is space.
        var isAwaited = false
        var isClosed = false
    }

    private enum Outcome { case taken(isFirst: Bool), full, refused }

    /// The maximum number of messages in the queue.
    static let limit = 10_000
    /// The maximum time for which a caller is blocked.
    private static let patience = DispatchTimeInterval.seconds(10)

    private let state = Locked(State())
    /// Signalled when there is space again.
    private let room = DispatchSemaphore(value: 0)

    /// Takes messages of one caller at a time.
    ///
    /// - Parameter begin: Called if no consumer is running. It must start one, which calls ``next(_:)`` until that
    ///   returns no item.
    /// - Returns: False if there was no space in time, or if the queue is closed.
    func take(_ messages: [Hub.Message], begin: () -> Void) -> Bool {
        let deadline = DispatchTime.now() + Self.patience
        while true {
            switch accept(messages.map { .message($0) }, limit: Self.limit) {
            case .taken(let isFirst):
                if isFirst { begin() }
                return true
            case .full: if room.wait(timeout: deadline) == .timedOut { return false }
            case .refused: return false
            }
        }
    }

    /// Takes an item that is not a message. The limit does not apply, because these items are rare.
    func add(_ item: Item, begin: () -> Void) {
        if case .taken(isFirst: true) = accept([item], limit: .max) { begin() }
    }

    /// Returns and removes the next items. If the queue is empty, the consumer must stop.
    func next(_ count: Int) -> [Item] {
        let (batch, isAwaited) = state.withLock { state in
            let batch = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(batch.count)
            state.isEmptied = !batch.isEmpty
            defer { state.isAwaited = false }
            return (batch, state.isAwaited)
        }
        if isAwaited { room.signal() }
        return batch
    }

    /// Closes the queue. Further items are refused.
    func close() {
        state.withLock { $0.isClosed = true }
        room.signal()
    }

    private func accept(_ items: [Item], limit: Int) -> Outcome {
        state.withLock { state in
            if state.isClosed || items.count > limit { return .refused }
            if state.waiting.count + items.count > limit {
                state.isAwaited = true
                return .full
            }
            state.waiting += items
            defer { state.isEmptied = true }
            return .taken(isFirst: !state.isEmptied)
        }
    }
}
