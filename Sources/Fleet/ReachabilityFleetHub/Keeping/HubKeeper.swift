import Dispatch
import LinuxSupport
package import Logging
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
    package static let pendingLimit = HubIntake.limit
    /// So many are decided on and written in one transaction at most.
    static let batchLimit = 1_000

    private struct State {
        var hub: Hub
        /// What is decided on, and not on the disk.
        var unsaved = UnsavedChanges()
        var acknowledgements: [@Sendable () -> Void] = []
        var fault: HistoryFault?
        /// When something may follow of time alone; nil while nothing can.
        var deadline: Duration?
    }

    private let store: any HubStore
    private let clock: @Sendable () -> Duration
    /// Told of what was decided, once it is on the disk, or is known not to be for now.
    private let listeners = Locked<[@Sendable ([Hub.Decision], Hub) -> Void]>([])
    private let logger: Logger?
    private let queue = DispatchQueue(label: "ReachabilityFleetHub.keeper")
    private let intake = HubIntake()
    private let timer = Locked<(any DispatchSourceTimer)?>(nil)
    private let state: Locked<State>

    /// - Parameters:
    ///   - run: Of this process, for ``Hub/init(devices:incidents:run:)``.
    ///   - clock: The hub's clock, since 1970.
    /// - Throws: Where the store cannot be read.
    package init(
        _ store: any HubStore,
        run: String? = nil,
        clock: @escaping @Sendable () -> Duration = { SystemClock.real },
        logger: Logger? = nil
    ) throws(HistoryFault) {
        let contents = try store.contents()
        (self.store, self.clock, self.logger) = (store, clock, logger)
        state = Locked(State(hub: Hub(devices: contents.devices, incidents: contents.incidents, run: run)))
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

    /// Adds who is told of what was decided, with what the hub knows then: on a queue of its own, in order.
    package func addListener(_ listener: @escaping @Sendable ([Hub.Decision], Hub) -> Void) {
        listeners.withLock { $0.append(listener) }
    }

    /// Takes messages, in their order. Where there is no room the caller waits for seconds: so the broker keeps what comes.
    ///
    /// - Returns: False where they are not taken, for there is no room by then.
    @discardableResult
    package func take(_ deliveries: [Delivery]) -> Bool {
        intake.take(deliveries, begin: begin)
    }

    // What comes after one of these is taken after it: a message that overtook it would be the first after what was lost.

    /// A message of a machine could not be taken, and will not come again.
    package func lose(_ place: FleetPlace) { intake.add(.lost(place), begin: begin) }

    package func brokerWasLost() { intake.add(.away, begin: begin) }

    /// To be called before anything is taken that the broker says now.
    package func brokerIsBack() { intake.add(.back(clock()), begin: begin) }

    private func begin() { queue.async { [weak self] in self?.work() } }

    /// Time goes by; called by itself when something may follow of it.
    package func pass() {
        let now = clock()
        queue.async { [weak self] in
            guard let self else { return }
            // What came by now counts before the time that went by; where nothing can be written nobody is heard, and nobody falls silent.
            work()
            if state.withLock({ $0.fault == nil }), save(telling: decide { $0.pass(to: now) }) { work() }
        }
    }

    /// Forgets machines, here and on the disk; messages of theirs that are on their way bring them back.
    ///
    /// - Returns: Those that were known.
    /// - Throws: Where the disk cannot be written; then nothing is forgotten.
    package func forget(_ places: [FleetPlace]) throws(HistoryFault) -> [FleetPlace] {
        try queue.sync { () -> Result<[FleetPlace], HistoryFault> in
            work()
            let devices = hub.devices
            let known = places.filter { devices[$0] != nil }
            guard !known.isEmpty else { return .success([]) }
            do throws(HistoryFault) { try store.forget(known) } catch { return .failure(error) }
            let decisions = state.withLock { state in
                known.flatMap { place in
                    state.unsaved.devices.remove(place)
                    let decisions = state.hub.forget(place)
                    state.unsaved.add(decisions)
                    return decisions
                }
            }
            if save(telling: decisions) { work() }
            return .success(known)
        }.get()
    }

    /// Waits until all that was taken is decided on, and saved if it can be.
    package func flush() { queue.sync { work() } }

    /// Ends: what is not saved now comes again. The store is closed.
    package func stop() {
        flush()
        intake.close()
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
        // Where the store fails, what comes has to wait: nothing is decided that may be forgotten before it is written.
        if state.withLock({ $0.fault != nil }), !save(telling: []) { return }
        while true {
            let batch = intake.next(Self.batchLimit)
            if batch.isEmpty { return }
            let decisions = batch.flatMap { take($0) }
            guard save(telling: decisions) else { return }
        }
    }

    private func take(_ item: HubIntake.Item) -> [Hub.Decision] {
        switch item {
        case .message(let delivery): take(delivery)
        case .lost(let place): decide { $0.fallBehind(place) }
        case .away: decide { $0.brokerWasLost() }
        case .back(let now):
            decide { hub in
                hub.brokerIsBack(at: now)
                return []
            }
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

    /// Saves what is not saved, acknowledges what that covers, and tells.
    ///
    /// - Returns: Whether it is saved.
    @discardableResult
    private func save(telling decisions: [Hub.Decision]) -> Bool {
        let changes = state.withLock { $0.unsaved.changes(of: $0.hub) }
        let isSaved = save(changes)
        tell(decisions)
        // What is told may still be in memory alone, so nothing is let go of before.
        if isSaved {
            state.withLock { state in for site in Set(changes.incidents.map(\.site)) { state.hub.prune(site) } }
        }
        return isSaved
    }

    private func save(_ changes: HubChanges) -> Bool {
        do throws(HistoryFault) {
            if !changes.isEmpty { try store.save(changes) }
        } catch {
            let isNew = state.withLock { state in
                defer { state.fault = error }
                return state.fault == nil
            }
            if isNew { logger?.warning("\(error.text)") }
            schedule(retrying: true)
            return false
        }
        let (acknowledgements, hadFault) = state.withLock { state in
            // A word of a machine puts off what would become of it, or is the first: the others' deadlines are as they were.
            let deadlines = changes.devices.compactMap(\.deadline)
            if let next = deadlines.min() { state.deadline = min(next, state.deadline ?? next) }
            defer { (state.unsaved, state.acknowledgements, state.fault) = (UnsavedChanges(), [], nil) }
            return (state.acknowledgements, state.fault != nil)
        }
        for acknowledge in acknowledgements { acknowledge() }
        if hadFault { logger?.notice("the history can be written again") }
        schedule(retrying: false)
        return true
    }

    private func tell(_ decisions: [Hub.Decision]) {
        if decisions.isEmpty { return }
        let hub = hub
        for listener in listeners.withLock(\.self) { listener(decisions, hub) }
    }

    private func schedule(retrying: Bool) {
        let now = clock()
        let deadline: Duration? = retrying ? now + .seconds(1) : state.withLock(\.deadline)
        guard let deadline else { return timer.withLock { $0?.schedule(deadline: .distantFuture) } }
        // Once a second is often enough, and leaves the rest of the time for messages.
        let wait = max(deadline - now, .seconds(1))
        let milliseconds = Int(min(wait, .seconds(86400)).milliseconds)
        timer.withLock { $0?.schedule(deadline: .now() + .milliseconds(milliseconds)) }
    }
}
