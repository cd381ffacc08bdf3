import Dispatch
package import LinuxSupport
package import Logging
import NetworkReachability
package import ReachabilityLedger

/// An object that sends notifications about incidents: one per cause, and one for the end. Thread-safe.
///
/// A change becomes a notification in these steps:
///
/// 1. ``IncidentTracker`` receives the change and groups outages with the same cause.
/// 2. The incidents are saved, so that they survive a kill of the service.
/// 3. Each ``DeliveryWorker`` queries the notifications that are due for its recipient and delivers them.
/// 4. The delivery is saved.
///
/// Accounting never waits for a recipient.
package final class Notifier: Sendable {
    /// The origin of the changes: the service of this machine, or the hub of a fleet.
    package struct Source: Sendable {
        /// Returns the current time on the time scale of the incidents.
        let now: @Sendable () -> LedgerInstant
        /// The wall clock and the timers.
        let clock: ServiceClock
        /// Returns the targets for which a running check decides whether they are still down.
        let undecided: @Sendable () -> Set<String>
        /// The number of reported incidents of a site that are kept after their end.
        let keptPerSite: Int
        /// Starts to call a listener with changes in the order of their occurrence. `known` are the incidents of an earlier run. The first
        /// call reports how they have changed since.
        let follow:
            @Sendable (_ known: [Incident], _ listener: @escaping @Sendable ([IncidentChange]) -> Void)
                -> Cancellation?

        package init(
            now: @escaping @Sendable () -> LedgerInstant,
            clock: ServiceClock,
            undecided: @escaping @Sendable () -> Set<String> = { [] },
            keptPerSite: Int = 0,
            follow: @escaping @Sendable ([Incident], @escaping @Sendable ([IncidentChange]) -> Void) -> Cancellation?
        ) {
            (self.now, self.clock, self.undecided) = (now, clock, undecided)
            (self.keptPerSite, self.follow) = (keptPerSite, follow)
        }
    }

    /// The storage of incidents and the state of their deliveries.
    package struct Storage: Sendable {
        /// The name in log messages.
        let name: String
        let isAvailable: @Sendable () -> Bool
        /// Returns the incidents of an earlier run, oldest first.
        let read: @Sendable () throws -> [Incident]
        /// Replaces the incidents of the previous call, `before`. The new ones are on the disk when the call returns.
        let write: @Sendable (_ incidents: [Incident], _ before: [Incident]) throws -> Void

        package init(
            name: String,
            isAvailable: @escaping @Sendable () -> Bool = { true },
            read: @escaping @Sendable () throws -> [Incident],
            write: @escaping @Sendable ([Incident], [Incident]) throws -> Void
        ) {
            (self.name, self.isAvailable, self.read, self.write) = (name, isAvailable, read, write)
        }
    }

    private struct State {
        var tracker: IncidentTracker
        var workers: [String: DeliveryWorker] = [:]
        var settings: [NotifierSettings] = []
        var statuses: [String: NotifierStatus] = [:]
        /// A Boolean value that indicates whether a configuration was applied. Before that, nothing is delivered or removed.
        var isConfigured = false
        var heartbeat: (settings: HeartbeatSettings, task: Task<Void, Never>)?
        /// The incidents on the disk.
        var written: [Incident] = []
        var writeHasFailed = false
        var isScheduled = false
        var alarm: Cancellation?
        var listener: Cancellation?
    }

    private let source: Source
    private let storage: Storage?
    private let writer: any NotificationWriting
    private let environment: NotifyEnvironment
    private let logger: Logger?
    private let queue = DispatchQueue(label: "ReachabilityService")
    /// The executor of the tasks that send the heartbeat and wait for the end of delivery workers.
    private let tasks = TaskQueue(label: "ReachabilityService.tasks")
    private let state: Locked<State>

    /// - Parameter storage: The storage of incidents. If nil, they are kept only in memory.
    package init(
        _ source: Source,
        storage: Storage?,
        writer: any NotificationWriting,
        environment: NotifyEnvironment,
        logger: Logger?
    ) {
        (self.source, self.storage, self.writer) = (source, storage, writer)
        (self.environment, self.logger) = (environment, logger)
        state = Locked(State(tracker: IncidentTracker(keptPerSite: source.keptPerSite)))
    }

    /// Creates a notifier for the outages of a service. Incidents are saved in its history.
    package convenience init(
        _ service: MonitoringService,
        history: HistoryWriter?,
        writer: any NotificationWriting,
        environment: NotifyEnvironment,
        logger: Logger?
    ) {
        let source = Source(now: { service.snapshot.now }, clock: service.clock, undecided: { service.undecided }) {
            _,
            listener in service.addListener { listener($0.map(IncidentChange.event)) }
        }
        let storage = history.map { history in
            Storage(
                name: history.file,
                isAvailable: { history.store != nil },
                read: { try history.store?.incidents() ?? [] },
                write: { incidents, _ in try history.store?.write(incidents) }
            )
        }
        self.init(source, storage: storage, writer: writer, environment: environment, logger: logger)
    }

    // MARK: Life cycle

    /// Continues with the incidents of an earlier run and follows the source. It must be called before the first change.
    package func begin() {
        let known = (try? storage?.read()) ?? []
        if !known.isEmpty {
            state.withLock { state in
                state.tracker.restore(known)
                state.written = known
            }
        }
        // A separate queue ensures that a burst does not delay other listeners.
        let listener = source.follow(known) { [weak self, queue] changes in
            queue.async { [weak self] in self?.take(changes) }
        }
        state.withLock { $0.listener = listener }
    }

    /// Cancels all deliveries and waits until they have ended. The next run delivers the pending notifications.
    package func stop() async {
        let (workers, heartbeat) = state.withLock { state in
            (state.listener, state.alarm) = (nil, nil)
            return (Array(state.workers.values), state.heartbeat?.task)
        }
        heartbeat?.cancel()
        await withTaskGroup { group in
            for worker in workers { group.addTask { await worker.stop() } }
        }
        await heartbeat?.value
        queue.sync { write() }
    }

    /// Blocks until all changes so far are processed.
    package func flush() {
        queue.sync {}
        // Processing a change enqueues further work.
        queue.sync {}
    }

    /// Waits until no delivery is running.
    func rest() async {
        for worker in state.withLock({ Array($0.workers.values) }) { await worker.rest() }
    }

    /// Checks a configuration and returns a closure that applies it.
    ///
    /// - Throws: ``ConfigurationProblems`` for secrets that cannot be read and for invalid URLs.
    package func prepare(
        _ configuration: ServiceConfiguration
    ) throws(ConfigurationProblems) -> @Sendable () -> Void {
        let channels = try Channels(configuration, writer, environment, logger)
        return { [weak self] in self?.apply(configuration, channels) }
    }

    private func apply(_ configuration: ServiceConfiguration, _ channels: Channels) {
        let now = source.now()
        let (old, beat) = state.withLock { state in
            state.isConfigured = true
            state.settings = configuration.notifiers
            state.tracker.apply(configuration.targets, configuration.notifiers, at: now)
            var workers: [String: DeliveryWorker] = [:]
            for (key, notifier, sender) in channels.senders {
                if let worker = state.workers.removeValue(forKey: key) {
                    if worker.notifier.reminder != notifier.reminder {
                        state.tracker.restartReminders(of: key, every: notifier.reminder, at: now)
                    }
                    worker.update(notifier, sender)
                    workers[key] = worker
                } else {
                    let clock = source.clock.monitor
                    workers[key] = DeliveryWorker(key, notifier, sender, of: self, environment, clock)
                }
            }
            let known = state.statuses
            state.statuses = Dictionary(
                channels.names.map { name, channel in
                    let new = NotifierStatus(name: name, channel: channel)
                    return (name, known[name].flatMap { $0.channel == channel ? $0 : nil } ?? new)
                }
            ) { first, _ in first }
            defer { state.workers = workers }
            return (
                Array(state.workers.values), replaceHeartbeat(configuration.heartbeat, channels.heartbeat, &state)
            )
        }
        beat?.cancel()
        if !old.isEmpty { Task(executorPreference: tasks) { for worker in old { await worker.stop() } } }
        schedule()
    }

    /// Starts a heartbeat with new settings.
    ///
    /// - Returns: The task of the previous heartbeat, which the caller has to cancel; nil without one, or if the settings are unchanged.
    private func replaceHeartbeat(
        _ settings: HeartbeatSettings?,
        _ web: WebSender?,
        _ state: inout State
    ) -> Task<Void, Never>? {
        if let current = state.heartbeat, current.settings == settings { return nil }
        let old = state.heartbeat?.task
        state.heartbeat = nil
        if let settings, let web {
            let heartbeat = Heartbeat(settings: settings, web: web, environment: environment) { [weak self] failure in
                self?.count("heartbeat", failure, isFinal: false)
            }
            state.heartbeat = (settings, Task(executorPreference: tasks) { await heartbeat.run() })
        }
        return old
    }

    // MARK: Changes

    private func take(_ changes: [IncidentChange]) {
        let isChanged = state.withLock { state in
            changes.reduce(false) { isChanged, change in state.tracker.take(change) || isChanged }
        }
        if isChanged { schedule() }
    }

    /// Schedules ``proceed()``. Calls before it runs are merged.
    func schedule() {
        let isFirst = state.withLock { state in
            guard state.isConfigured else { return false }
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { queue.async { [weak self] in self?.proceed() } }
    }

    /// The interval at which an undecided incident is examined again.
    private static let decisionPause = Duration.seconds(1)

    /// Saves the incidents, schedules a timer for the next notification, and wakes the workers. Runs on the queue.
    private func proceed() {
        let (now, undecided) = (source.now(), source.undecided())
        let (workers, next) = state.withLock { state in
            state.isScheduled = false
            state.tracker.settle(state.workers.mapValues(\.notifier))
            var times = state.workers.values.flatMap { worker in
                state.tracker.incidents.compactMap { $0.nextDue(for: worker.key, of: worker.notifier, after: now) }
            }
            let real = source.clock.real()
            times += state.workers.values.compactMap { $0.notifier.quiet?.rest(at: real).map { now + $0 } }
            // Only checks need the timer. For an incident of an earlier run, an event follows.
            if !undecided.isEmpty,
                state.tracker.incidents.contains(where: { !$0.isOver && state.tracker.isUndecided($0, undecided) })
            {
                times.append(now + Self.decisionPause)
            }
            return (Array(state.workers.values), times.min())
        }
        write()
        let alarm = next.map { next in
            source.clock.monitor.schedule(after: max(next - now, .milliseconds(1)), on: queue) { [weak self] in
                self?.schedule()
            }
        }
        state.withLock { $0.alarm = alarm }
        for worker in workers { worker.wake() }
    }

    /// Saves the incidents if they have changed. Runs on the queue.
    private func write() {
        guard let storage, storage.isAvailable(), state.withLock(\.isConfigured) else { return }
        // Without a recipient no incident has to be saved.
        let (incidents, written) = state.withLock { ($0.workers.isEmpty ? [] : $0.tracker.incidents, $0.written) }
        guard incidents != written else { return }
        let hadFailed = state.withLock(\.writeHasFailed)
        do {
            try storage.write(incidents, written)
            state.withLock { ($0.written, $0.writeHasFailed) = (incidents, false) }
        } catch {
            state.withLock { $0.writeHasFailed = true }
            // The next change starts another attempt.
            if !hadFailed { logger?.warning("cannot save the state of notifications in \(storage.name.printable)") }
        }
    }
}

// The functions that workers call.

extension Notifier {
    /// Sends a test to a recipient. Its result appears in ``status``.
    ///
    /// - Returns: False if there is no notifier with this name.
    package func test(_ name: String) -> Bool {
        let workers = state.withLock { $0.workers.values.filter { $0.notifier.name == name } }
        for worker in workers {
            Task(executorPreference: tasks) { [now = source.now()] in await worker.test(at: now) }
        }
        return !workers.isEmpty
    }

    /// Sends a test to a recipient of a configuration once, without a running service.
    ///
    /// - Returns: The names of the recipients if none has this name; nil if the test was sent.
    /// - Throws: ``ConfigurationProblems`` for a secret that cannot be read, otherwise ``DeliveryFailure``.
    package static func test(
        _ name: String,
        of configuration: ServiceConfiguration,
        writer: any NotificationWriting,
        environment: NotifyEnvironment,
        at now: LedgerInstant,
        logger: Logger?
    ) async throws -> [String]? {
        let senders = try Channels(configuration, writer, environment, logger).senders.filter {
            $0.notifier.name == name
        }
        if senders.isEmpty { return configuration.notifiers.map(\.name) }
        var failure: DeliveryFailure?
        for (_, _, sender) in senders {
            do throws(DeliveryFailure) { try await sender.send([Incident.test(at: now)]) } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return nil
    }

    /// Returns the notifications that are due for a worker.
    ///
    /// - Parameter repeats: True if notifications of ongoing incidents are repeated.
    func pending(for worker: String, repeats: Bool) -> [Notification] {
        let (now, undecided) = (source.now(), source.undecided())
        return state.withLock { state in
            guard let notifier = state.workers[worker]?.notifier, notifier.quiet?.rest(at: source.clock.real()) == nil
            else { return [] }
            return state.tracker.incidents.compactMap { incident in
                let next = incident.next(for: worker, of: notifier, at: now)
                // If the incident may end soon, `began` waits, so that only the end is reported.
                if next?.event == .began, state.tracker.isUndecided(incident, undecided) { return nil }
                return next ?? (repeats ? incident.repetition(for: worker, of: notifier, at: now) : nil)
            }
        }
    }

    /// Records that a worker starts to deliver notifications.
    func willDeliver(_ notifications: [Notification], by worker: String) {
        state.withLock { state in
            for notification in notifications { state.tracker.willDeliver(notification, by: worker) }
        }
    }

    /// Records that notifications were delivered, or given up because of a failure.
    func didDeliver(_ notifications: [Notification], by worker: String, _ failure: DeliveryFailure?) {
        state.withLock { state in
            for notification in notifications { state.tracker.didDeliver(notification, by: worker) }
        }
        // The delivery is saved before the next one, so that it is not repeated after a kill of the service.
        queue.sync { write() }
        count(worker, failure, isFinal: true)
        schedule()
    }

    /// Counts an attempt, and logs a failure that differs from the last one.
    ///
    /// - Parameter isFinal: True if a failed delivery is given up.
    func count(_ worker: String, _ failure: DeliveryFailure?, isFinal: Bool) {
        let time = source.clock.real()
        let (name, isNew) = state.withLock { state in
            let name = state.workers[worker]?.notifier.name ?? worker
            guard var status = state.statuses[name] else { return (name, false) }
            defer { state.statuses[name] = status }
            let before = status.failure
            status.failure = failure?.text
            status.failureTime = failure == nil ? nil : time
            switch failure {
            case nil: status.delivered += 1
            case _? where isFinal: status.refused += 1
            case _?: status.postponed += 1
            }
            return (name, failure != nil && failure?.text != before)
        }
        if isNew, let failure { logger?.warning("\("cannot notify \(name): \(failure.text)".printable)") }
    }

    /// The state of each notifier, in the order of the configuration.
    package var status: [NotifierStatus] {
        let now = source.now()
        return state.withLock { state in
            let names = state.settings.map(\.name) + (state.heartbeat == nil ? [] : ["heartbeat"])
            return names.compactMap { name in
                var status = state.statuses[name]
                for worker in state.workers.values where worker.notifier.name == name {
                    status?.pending += state.tracker.incidents.count {
                        $0.next(for: worker.key, of: worker.notifier, at: now) != nil
                    }
                }
                return status
            }
        }
    }
}

/// The state of one notifier.
package struct NotifierStatus: Hashable, Sendable {
    package let name: String
    /// The channel: `webhook`, `email`, `exec`, `alertmanager`, `journal` or `heartbeat`.
    package let channel: String
    /// The number of notifications that are due and not delivered.
    package var pending = 0
    /// The number of notifications that were delivered.
    package var delivered: UInt64 = 0
    /// The number of failed attempts that are repeated.
    package var postponed: UInt64 = 0
    /// The number of notifications that were given up because the recipient rejects them.
    package var refused: UInt64 = 0
    /// The error of the last attempt, without URLs and secrets; nil if it succeeded.
    package var failure: String?
    /// The time of the failure, since 1970.
    package var failureTime: Duration?

    /// The JSON object in `/v1/status`.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("name", name)
        object.add("way", channel)
        object.add("pending", pending)
        object.add("delivered", delivered)
        object.add("postponed", postponed)
        object.add("refused", refused)
        object.add("failure", failure)
        object.add("failureTime", failureTime.map { Timestamp(real: $0).text })
        return object
    }
}
