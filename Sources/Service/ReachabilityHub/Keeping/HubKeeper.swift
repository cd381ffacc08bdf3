import Dispatch
import LinuxPrimitives
package import ReachabilityFleet
package import ReachabilityService

/// Has a hub decide on messages and writes down what follows, before any of them is acknowledged: who dies in between gets them again, and
/// drops what is known. Thread-safe.
///
/// What comes while a transaction is under way goes into the next, together. Where the store cannot be written, nothing is acknowledged,
/// and it is tried again each second: then the broker, and behind it the machines, keep what is said.
package final class HubKeeper: Sendable {
    /// A message, and what is called once it needs not be sent again.
    package struct Delivery: Sendable {
        let message: Hub.Message
        let acknowledge: @Sendable () -> Void

        package init(_ message: Hub.Message, acknowledge: @escaping @Sendable () -> Void) {
            (self.message, self.acknowledge) = (message, acknowledge)
        }
    }

    /// So many messages wait in memory at most; more is for the broker to keep.
    package static let pendingLimit = 10_000
    /// So many are decided on and written in one transaction at most.
    static let batchLimit = 1_000

    fileprivate struct State {
        var hub: Hub
        /// What came, and is not decided on.
        var pending: [Delivery] = []
        /// What is decided on, and not on the disk.
        var unsaved = Unsaved()
        var acknowledgements: [@Sendable () -> Void] = []
        var fault: HistoryFault?
        var isWorking = false
        var isOver = false
    }

    /// What has changed since it was saved.
    fileprivate struct Unsaved {
        var devices: Set<FleetPlace> = []
        var incidents: [String: Set<FleetPlace>] = [:]
    }

    private let store: any HubStore
    private let clock: @Sendable () -> Duration
    /// Told of what was decided, once it is on the disk, or is known not to be for now.
    private let tell: @Sendable ([Hub.Decision]) -> Void
    /// Told when the store cannot be written, once, and when it can again, with nil.
    private let report: @Sendable (HistoryFault?) -> Void
    private let queue = DispatchQueue(label: "ReachabilityHub.keeper")
    private let timer = Locked<(any DispatchSourceTimer)?>(nil)
    private let state: Locked<State>

    /// - Parameters:
    ///   - clock: The hub's clock, since 1970.
    ///   - tell: Called on a queue of its own, in order.
    /// - Throws: Where the store cannot be read.
    package init(
        _ store: any HubStore,
        clock: @escaping @Sendable () -> Duration = { SystemClock.real },
        tell: @escaping @Sendable ([Hub.Decision]) -> Void = { _ in },
        report: @escaping @Sendable (HistoryFault?) -> Void = { _ in }
    ) throws(HistoryFault) {
        let contents = try store.contents()
        (self.store, self.clock, self.tell, self.report) = (store, clock, tell, report)
        state = Locked(State(hub: Hub(devices: contents.devices, incidents: contents.incidents)))
        timer.withLock { timer in
            let made = DispatchSource.makeTimerSource(queue: queue)
            made.setEventHandler { [weak self] in self?.pass() }
            made.activate()
            timer = made
        }
    }

    deinit { timer.withLock { $0.take()?.cancel() } }

    /// What the hub knows now.
    package var hub: Hub { state.withLock(\.hub) }

    /// Why the store cannot be written; nil where it can.
    package var fault: HistoryFault? { state.withLock(\.fault) }

    /// Takes messages, in their order.
    ///
    /// - Returns: False where so many wait already that these are not taken.
    @discardableResult
    package func take(_ deliveries: [Delivery]) -> Bool {
        let mustBegin = state.withLock { state -> Bool? in
            guard !state.isOver, state.pending.count + deliveries.count <= Self.pendingLimit else { return nil }
            state.pending += deliveries
            defer { state.isWorking = true }
            return !state.isWorking
        }
        if mustBegin == true { queue.async { [weak self] in self?.work() } }
        return mustBegin != nil
    }

    package func brokerWasLost() {
        queue.async { [weak self] in self?.decide { $0.brokerWasLost() } }
    }

    package func brokerIsBack() {
        let now = clock()
        queue.async { [weak self] in
            self?.decide { hub in
                hub.brokerIsBack(at: now)
                return []
            }
        }
    }

    /// Time goes by; called by itself when something may follow of it.
    package func pass() {
        let now = clock()
        queue.async { [weak self] in self?.decide { $0.pass(to: now) } }
    }

    /// Waits until all that was taken is decided on, and saved if it can be.
    package func flush() { queue.sync { work() } }

    /// Ends: what is not saved now comes again. The store is closed.
    package func stop() {
        flush()
        state.withLock { $0.isOver = true }
        timer.withLock { $0.take()?.cancel() }
        store.close()
    }

    // MARK: On the queue

    private func decide(_ body: (inout Hub) -> [Hub.Decision]) {
        let decisions = state.withLock { state in
            let decisions = body(&state.hub)
            state.unsaved.add(decisions)
            return decisions
        }
        if save(telling: decisions) { work() }
    }

    private func work() {
        // Where the store fails, what comes has to wait: nothing is decided that may be forgotten before it is written.
        if state.withLock({ $0.fault != nil }), !save(telling: []) { return }
        while true {
            let batch = state.withLock { state in
                let batch = Array(state.pending.prefix(Self.batchLimit))
                state.pending.removeFirst(batch.count)
                if batch.isEmpty { state.isWorking = false }
                return batch
            }
            if batch.isEmpty { return }
            let decisions = batch.flatMap { take($0) }
            guard save(telling: decisions) else { return }
        }
    }

    private func take(_ delivery: Delivery) -> [Hub.Decision] {
        let store = store
        return state.withLock { state in
            let decisions = state.hub.take(delivery.message) { place, outage in
                // Where it cannot be read, it is told twice rather than never.
                (try? store.hasOutage(outage, of: place)) ?? false
            }
            state.unsaved.add(decisions)
            state.acknowledgements.append(delivery.acknowledge)
            return decisions
        }
    }

    /// Saves what is not saved, and acknowledges what that covers.
    ///
    /// - Returns: Whether it is saved.
    @discardableResult
    private func save(telling decisions: [Hub.Decision]) -> Bool {
        defer { if !decisions.isEmpty { tell(decisions) } }
        let (changes, acknowledgements) = state.withLock { ($0.changes, $0.acknowledgements) }
        do throws(HistoryFault) {
            if !changes.isEmpty { try store.save(changes) }
        } catch {
            let isNew = state.withLock { state in
                defer { state.fault = error }
                return state.fault == nil
            }
            if isNew { report(error) }
            schedule(retrying: true)
            return false
        }
        let hadFault = state.withLock { state in
            for site in Set(changes.incidents.map(\.site)) { state.hub.prune(site) }
            (state.unsaved, state.acknowledgements) = (Unsaved(), [])
            defer { state.fault = nil }
            return state.fault != nil
        }
        for acknowledge in acknowledgements { acknowledge() }
        if hadFault { report(nil) }
        schedule(retrying: false)
        return true
    }

    private func schedule(retrying: Bool) {
        let now = clock()
        let deadline = retrying ? now + .seconds(1) : state.withLock(\.hub).deadline
        guard let deadline else { return timer.withLock { $0?.schedule(deadline: .distantFuture) } }
        // Once a second is often enough, and leaves the rest of the time for messages.
        let wait = max(deadline - now, .seconds(1))
        let milliseconds = Int(min(wait, .seconds(86400)).wholeMilliseconds)
        timer.withLock { $0?.schedule(deadline: .now() + .milliseconds(milliseconds)) }
    }
}

extension HubKeeper.Unsaved {
    fileprivate mutating func add(_ decisions: [Hub.Decision]) {
        for decision in decisions {
            switch decision {
            case .noted(let place), .stands(let place, _), .gap(let place), .disputed(let place): devices.insert(place)
            case .incident(let change): incidents[change.incident, default: []].insert(change.place)
            case .refused: break
            }
        }
    }
}

extension HubKeeper.State {
    fileprivate var changes: HubChanges {
        var changes = HubChanges()
        changes.devices = unsaved.devices.compactMap { hub.devices[$0] }
        for (id, places) in unsaved.incidents {
            guard let site = places.first?.site, let incident = hub.book.incident(id, at: site) else { continue }
            changes.add(incident, places.map(\.device))
        }
        return changes
    }
}
