import Dispatch
import LinuxSupport
import NetworkReachability
import ReachabilityLedger

/// Tells people and machines of incidents: of each once, and always that it is over.
///
/// What happens from an event to a notification, step by step:
///
/// 1. The book takes the event: what fell together is one incident.
/// 2. The incidents are written down, so that none is forgotten, whatever is killed when.
/// 3. Each ``Courier`` looks what is due for its recipient, and tells it; what is to be told is decided at that moment.
/// 4. What was told is written down, too.
///
/// Nothing of what it is about ever waits for a recipient. Thread-safe.
package final class Telling<Book: ToldBook>: Sendable {
    struct State {
        var book = Book()
        var couriers: [String: Courier] = [:]
        var settings: [NotifierSettings] = []
        var statuses: [String: NotifierStatus] = [:]
        /// Whether it is known whom to tell: until then nothing is told, nor is anything forgotten.
        var isApplied = false
        var heartbeat: (settings: HeartbeatSettings, task: Task<Void, Never>)?
        /// What is on the disk.
        var written: [Incident] = []
        var isUnwritten = false
        var isScheduled = false
        var alarm: Cancellation?
        var listener: Cancellation?
    }

    let source: TellingSource<Book.Event>
    private let memory: TellingMemory?
    private let writer: any NotificationWriting
    let environment: NotifyEnvironment
    let report: @Sendable (String) -> Void
    let queue = DispatchQueue(label: "ReachabilityService")
    /// Of the heartbeat, and of couriers that end.
    private let tasks = TaskQueue(label: "ReachabilityService.tasks")
    let state = Locked(State())

    /// - Parameters:
    ///   - source: What it is about.
    ///   - memory: Where it is written what was told; nil for nowhere.
    ///   - report: Told of what people should know, in one line.
    package init(
        _ source: TellingSource<Book.Event>,
        memory: TellingMemory?,
        writer: any NotificationWriting,
        environment: NotifyEnvironment,
        report: @escaping @Sendable (String) -> Void
    ) {
        (self.source, self.memory, self.writer) = (source, memory, writer)
        (self.environment, self.report) = (environment, report)
    }

    // MARK: From the beginning to the end

    /// Takes up what an earlier run left, and follows the source. To be called before anything happens there.
    package func begin() {
        let known = (try? memory?.read()) ?? []
        if !known.isEmpty {
            state.withLock { state in
                state.book.restore(known)
                state.written = known
            }
        }
        // Not where others hear of them: a burst is worked off here.
        let listener = source.follow(known) { [weak self, queue] events in
            queue.async { [weak self] in self?.take(events) }
        }
        state.withLock { $0.listener = listener }
    }

    /// Ends everything, and waits for that. What was not told is told by the next run.
    package func stop() async {
        let (couriers, heartbeat) = state.withLock { state in
            (state.listener, state.alarm) = (nil, nil)
            return (Array(state.couriers.values), state.heartbeat?.task)
        }
        heartbeat?.cancel()
        await withTaskGroup { group in
            for courier in couriers { group.addTask { await courier.stop() } }
        }
        await heartbeat?.value
        queue.sync { write() }
    }

    /// Waits until everything that has happened was looked at.
    package func flush() {
        queue.sync {}
        // What that has led to.
        queue.sync {}
    }

    /// Waits until nothing is being told, nor tried.
    func rest() async {
        for courier in state.withLock({ Array($0.couriers.values) }) { await courier.rest() }
    }

    /// Looks what a configuration needs, and returns what puts it to use.
    ///
    /// - Throws: What of it cannot be used: a secret that cannot be read, an address that is none.
    package func prepare(
        _ configuration: ServiceConfiguration
    ) throws(ConfigurationProblems) -> @Sendable () -> Void {
        let ways = try Ways(configuration, writer, environment, report)
        return { [weak self] in self?.apply(configuration, ways) }
    }

    private func apply(_ configuration: ServiceConfiguration, _ ways: Ways) {
        let now = source.now()
        let (old, beat) = state.withLock { state in
            state.isApplied = true
            state.settings = configuration.notifiers
            state.book.apply(configuration, at: now)
            var couriers: [String: Courier] = [:]
            for (key, notifier, sender) in ways.senders {
                if let courier = state.couriers.removeValue(forKey: key) {
                    courier.update(notifier, sender)
                    couriers[key] = courier
                } else {
                    couriers[key] = Courier(key, notifier, sender, office)
                }
            }
            let known = state.statuses
            state.statuses = Dictionary(
                ways.names.map { name, way in
                    (name, known[name].flatMap { $0.way == way ? $0 : nil } ?? NotifierStatus(name: name, way: way))
                }
            ) { first, _ in first }
            defer { state.couriers = couriers }
            return (Array(state.couriers.values), replaceHeartbeat(configuration.heartbeat, ways.heartbeat, &state))
        }
        beat?.cancel()
        if !old.isEmpty { Task(executorPreference: tasks) { for courier in old { await courier.stop() } } }
        schedule()
    }

    /// - Returns: The one that is to end.
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

    // MARK: Events

    private func take(_ events: [Book.Event]) {
        let isChanged = state.withLock { state in
            events.reduce(false) { changed, event in state.book.take(event) || changed }
        }
        if isChanged { schedule() }
    }

    /// Writes what has changed, and lets couriers look; a burst of changes once.
    func schedule() {
        let isFirst = state.withLock { state in
            guard state.isApplied else { return false }
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { queue.async { [weak self] in self?.goOn() } }
    }

    /// When an incident that is about to be decided is considered again.
    private static var decisionPause: Duration { .seconds(1) }

    private func goOn() {
        let (now, undecided) = (source.now(), source.undecided())
        let (couriers, next) = state.withLock { state in
            state.isScheduled = false
            state.book.settle(state.couriers.mapValues(\.notifier))
            var times = state.couriers.values.flatMap { courier in
                state.book.incidents.compactMap { $0.nextDue(for: courier.key, of: courier.notifier, after: now) }
            }
            // What an earlier run has left is decided with an event.
            if !undecided.isEmpty,
                state.book.incidents.contains(where: { !$0.isOver && state.book.isUndecided($0, undecided) })
            {
                times.append(now + Self.decisionPause)
            }
            return (Array(state.couriers.values), times.min())
        }
        write()
        let alarm = next.map { next in
            source.clock.schedule(after: max(next - now, .milliseconds(1)), on: queue) { [weak self] in
                self?.schedule()
            }
        }
        state.withLock { $0.alarm = alarm }
        for courier in couriers { courier.look() }
    }

    /// On the queue.
    func write() {
        guard let memory, memory.isThere(), state.withLock(\.isApplied) else { return }
        // Where nobody is told, there is nothing to remember.
        let (incidents, written) = state.withLock { ($0.couriers.isEmpty ? [] : $0.book.incidents, $0.written) }
        guard incidents != written else { return }
        let wasUnwritten = state.withLock(\.isUnwritten)
        do {
            try memory.write(incidents, written)
            state.withLock { ($0.written, $0.isUnwritten) = (incidents, false) }
        } catch {
            state.withLock { $0.isUnwritten = true }
            // It is tried again with the next change.
            if !wasUnwritten {
                report("what is told of outages cannot be written into \(memory.name.printable)")
            }
        }
    }
}

extension Telling {
    /// What couriers work with.
    var office: Courier.Office {
        Courier.Office(
            letters: { [weak self] courier, repeats in self?.letters(for: courier, repeats: repeats) ?? [] },
            tries: { [weak self] courier, letters in
                self?.state.withLock { state in
                    for letter in letters { state.book.tries(letter, by: courier) }
                }
            },
            done: { [weak self] courier, letters, failure in self?.done(courier, letters, failure) },
            postponed: { [weak self] courier, failure in
                self?.count(courier, failure, isFinal: false)
            },
            environment: environment,
            clock: source.clock
        )
    }

    private func letters(for courier: String, repeats: Bool) -> [Notification] {
        let (now, undecided) = (source.now(), source.undecided())
        return state.withLock { state in
            guard let notifier = state.couriers[courier]?.notifier else { return [] }
            return state.book.incidents.compactMap { incident in
                let next = incident.next(for: courier, of: notifier, at: now)
                // An incident that is over by now is told once, with its end.
                if next?.event == .began, state.book.isUndecided(incident, undecided) { return nil }
                return next ?? (repeats ? incident.standing(for: courier, of: notifier, at: now) : nil)
            }
        }
    }

    private func done(_ courier: String, _ letters: [Notification], _ failure: DeliveryFailure?) {
        state.withLock { state in
            for letter in letters { state.book.told(letter, by: courier) }
        }
        // Before anything else is told: who is killed now tells it only once.
        queue.sync { write() }
        count(courier, failure, isFinal: true)
        schedule()
    }
}

extension Telling {
    /// How it goes with each notifier, in the order of the configuration.
    package var status: [NotifierStatus] {
        let now = source.now()
        return state.withLock { state in
            let names = state.settings.map(\.name) + (state.heartbeat == nil ? [] : ["heartbeat"])
            return names.compactMap { name in
                var status = state.statuses[name]
                for courier in state.couriers.values where courier.notifier.name == name {
                    status?.pending += state.book.incidents.count {
                        $0.next(for: courier.key, of: courier.notifier, at: now) != nil
                    }
                }
                return status
            }
        }
    }

    /// Counts what an attempt came to, and tells of a failure that is another than the last.
    func count(_ courier: String, _ failure: DeliveryFailure?, isFinal: Bool) {
        let time = source.real()
        let isNews = state.withLock { state in
            let name = state.couriers[courier]?.notifier.name ?? courier
            guard var status = state.statuses[name] else { return false }
            defer { state.statuses[name] = status }
            let before = status.failure
            status.failure = failure?.text
            status.failureTime = failure == nil ? nil : time
            switch failure {
            case nil: status.delivered += 1
            case _? where isFinal: status.refused += 1
            case _?: status.postponed += 1
            }
            return failure != nil && failure?.text != before
        }
        if isNews, let failure {
            let name = state.withLock { $0.couriers[courier]?.notifier.name } ?? courier
            report("\(name) could not be told: \(failure.text)".printable)
        }
    }
}
