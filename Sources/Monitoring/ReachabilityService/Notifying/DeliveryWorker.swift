import Dispatch
import LinuxSupport
import NIOHTTP1
import NetworkReachability
import ReachabilityLedger
package import ReachabilityRetry

/// A worker that delivers notifications to one recipient, one attempt at a time. Thread-safe.
///
/// A failed attempt is repeated after a delay. It is repeated immediately if the network returns or another notification becomes due.
///
/// The worker queries its pending notifications just before each attempt. Therefore, if an incident has ended by then, only its end is
/// delivered.
final class DeliveryWorker: Sendable {
    private struct State {
        var notifier: NotifierSettings
        var sender: any NotificationSender
        var work: Task<Void, Never>?
        /// A Boolean value that indicates whether another notification may have become due since the work began.
        var again = false
        /// A Boolean value that indicates whether the work waits for a retry.
        var isWaiting = false
        /// The fingerprints of the notifications of the last attempt.
        var attempted: [String] = []
        /// The ids of `began` notifications that are being sent over the network.
        var beginnings: Set<String> = []
        /// The timer for the next repetition.
        var alarm: Cancellation?
        var isOver = false
    }

    /// The identifier of the worker. It stays the same when the service restarts.
    let key: String
    private weak let owner: Notifier?
    private let environment: NotifyEnvironment
    private let clock: any MonitorClock
    private let queue = DispatchQueue(label: "ReachabilityService.delivery")
    /// The executor of the work. A global queue is not used, because its threads wake up periodically.
    private let tasks = TaskQueue(label: "ReachabilityService.delivery.tasks")
    private let state: Locked<State>

    init(
        _ key: String,
        _ notifier: NotifierSettings,
        _ sender: any NotificationSender,
        of owner: Notifier,
        _ environment: NotifyEnvironment,
        _ clock: any MonitorClock
    ) {
        (self.key, self.owner, self.environment, self.clock) = (key, owner, environment, clock)
        state = Locked(State(notifier: notifier, sender: sender))
    }

    var notifier: NotifierSettings { state.withLock(\.notifier) }

    /// Replaces the settings. A running attempt is completed.
    func update(_ notifier: NotifierSettings, _ sender: any NotificationSender) {
        state.withLock { state in
            (state.notifier, state.sender) = (notifier, sender)
            if let work = state.work, state.isWaiting {
                state.again = true
                work.cancel()
            }
        }
    }

    /// Begins work if a notification is due. Returns immediately.
    func wake() {
        let pending = pending(repeats)
        guard !pending.isEmpty else { return }
        let fingerprints = pending.map(\.fingerprint)
        state.withLock { state in
            // Without a change nothing is done here, because a failed attempt is repeated by the retry policy.
            if state.isOver || state.attempted == fingerprints { return }
            state.attempted = fingerprints
            guard let work = state.work else { return begin(&state) }
            state.again = true
            // Another notification cancels the delay. It also cancels a `began` that is being sent and is no longer due, so that it cannot
            // arrive after the end.
            let isOutdated = !state.beginnings.isSubset(of: pending.map(\.id))
            if state.isWaiting || isOutdated { work.cancel() }
        }
    }

    /// Sends a test once, without waiting for other deliveries.
    func test(at now: LedgerInstant) async {
        let sender = state.withLock(\.sender)
        do throws(DeliveryFailure) {
            try await sender.send([Incident.test(at: now)])
            owner?.count(key, nil, isFinal: true)
        } catch {
            owner?.count(key, error, isFinal: true)
        }
    }

    /// Cancels a running attempt and waits until it has ended.
    func stop() async {
        let work = state.withLock { state in
            state.isOver = true
            state.alarm = nil
            state.work?.cancel()
            return state.work
        }
        await work?.value
    }

    /// Waits until no attempt is running.
    func rest() async {
        while let work = state.withLock(\.work) { await work.value }
    }

    // MARK: Work

    private func begin(_ state: inout State) {
        (state.again, state.isWaiting) = (false, false)
        state.work = Task(executorPreference: tasks) { [weak self] in
            let pause = await self?.work()
            self?.finish(pause: pause ?? nil)
        }
    }

    private func finish(pause: Duration?) {
        let alarm = pause.map { pause in
            clock.schedule(after: pause, on: queue) { [weak self] in
                self?.state.withLock { $0.attempted = [] }
                self?.wake()
            }
        }
        state.withLock { state in
            state.work = nil
            if state.isOver { return }
            state.alarm = alarm
            if state.again { begin(&state) }
        }
    }

    private var repeats: Bool { state.withLock { $0.sender.repetition != nil } }

    private func pending(_ repeats: Bool) -> [Notification] { owner?.pending(for: key, repeats: repeats) ?? [] }

    /// Delivers all pending notifications, with retries.
    ///
    /// - Returns: The delay until the next repetition; nil if none is needed.
    private func work() async -> Duration? {
        let wasOffline = Locked(false)
        let sender = state.withLock(\.sender)
        let target = sender.host.flatMap { try? RetryTarget(host: $0, isRepeatable: true) }
        do {
            let outcome = try await withRetry(
                policy: NotifyEnvironment.policy,
                target: target ?? .network(isRepeatable: true),
                coordinator: environment.coordinator,
                clock: environment.clock,
                observer: { [weak self] event in
                    if case .waiting = event { self?.state.withLock { $0.isWaiting = true } }
                },
                operation: { [weak self] _ in
                    guard let self else { return false }
                    state.withLock { $0.isWaiting = false }
                    // The service may detect the end of the outage shortly after the network is back. Then only the end is delivered.
                    if wasOffline.withLock({ $0 }) { try await environment.pause(Self.grace) }
                    return try await deliver(wasOffline)
                }
            )
            return outcome.value ? sender.repetition : nil
        } catch {
            return Task.isCancelled ? nil : Self.rest
        }
    }

    /// The delay after the network is back, before the next attempt.
    private static let grace = Duration.seconds(2)
    /// The delay before new attempts after the retries have ended without success.
    private static let rest = Duration.seconds(60)

    /// Makes one attempt to deliver all pending notifications.
    ///
    /// - Returns: True if a reported incident has not ended and its notification has to be repeated.
    private func deliver(_ wasOffline: Locked<Bool>) async throws(DeliveryFailure) -> Bool {
        while true {
            let sender = state.withLock { state in
                // This attempt includes all notifications that are due now.
                if !Task.isCancelled { state.again = false }
                return state.sender
            }
            var pending = pending(sender.repetition != nil)
            if pending.isEmpty {
                // In quiet hours an attempted notification is no longer pending. At their end it is attempted again.
                state.withLock { $0.attempted = [] }
                owner?.schedule()
                return false
            }
            if sender.repetition == nil { pending = [pending[0]] }
            state.withLock { [fingerprints = pending.map(\.fingerprint)] in $0.attempted = fingerprints }
            owner?.willDeliver(pending, by: key)
            let beginnings =
                sender.host == nil ? [] : pending.filter { $0.event == .began && !$0.incident.isOver }.map(\.id)
            state.withLock { $0.beginnings = Set(beginnings) }
            defer { state.withLock { $0.beginnings = [] } }
            do throws(DeliveryFailure) {
                try await sender.send(pending)
                owner?.didDeliver(pending, by: key, nil)
            } catch {
                if Task.isCancelled { throw error }
                if let stage = error.failureStage {
                    wasOffline.withLock { $0 = stage == .neverSent }
                    owner?.count(key, error, isFinal: false)
                    throw error
                }
                owner?.didDeliver(pending, by: key, error)
            }
            if sender.repetition != nil { return pending.contains { !$0.incident.isOver } }
        }
    }
}

extension Notification {
    /// A text that differs for notifications with different content.
    fileprivate var fingerprint: String {
        "\(id) \(incident.members.count) \(incident.members.count { $0.end != nil }) \(incident.state)"
    }
}

/// The dependencies of deliveries. Tests can replace them.
package struct NotifyEnvironment: Sendable {
    /// The coordinator of retries, which waits for the network and spreads retries.
    package var coordinator: RetryCoordinator
    /// The clock that measures the delays of retries. It must be the clock of the coordinator.
    package var clock: any Clock<Duration> = QuietClock()
    /// Suspends the task for a time.
    package var pause: @Sendable (Duration) async throws -> Void
    /// Runs the programs of `exec` notifiers.
    package var hooks: HookRunner
    /// Runs the mail programs of `email` notifiers.
    package var programs: InputProgramRunner
    /// The timeout of an HTTP request.
    package var timeLimit: Duration = .seconds(15)
    /// The path of the journal's socket.
    package var journalSocket = JournalSender.standardSocket

    package init(
        coordinator: RetryCoordinator = RetryCoordinator(limits: Self.limits, clock: QuietClock()),
        pause: @escaping @Sendable (Duration) async throws -> Void = { try await QuietClock().sleep(for: $0) },
        hooks: @escaping HookRunner,
        programs: @escaping InputProgramRunner
    ) {
        (self.coordinator, self.pause, self.hooks, self.programs) = (coordinator, pause, hooks, programs)
    }

    /// The policy for retries: attempts are repeated for 30 days, or until the delivery succeeds.
    ///
    /// The maximum delay is one minute, or one hour if the server requests it with `Retry-After`. The delay ends early when the network is
    /// back.
    static let policy: RetryPolicy = {
        do {
            return try RetryPolicy(
                deadline: .seconds(30 * 86_400),
                attempts: .max,
                attemptsAfterSending: .max,
                attemptsUnresolved: .max,
                attemptsRefused: .max,
                backoff: Backoff(base: .seconds(1), cap: .seconds(60)),
                retryAfterCap: .seconds(3600),
                statuses: Set(300...599)
            )
        } catch {
            return .standard
        }
    }()

    /// The limits for retries. Retries use no budget, because the number of recipients is small.
    package static let limits: RetryLimits = {
        do { return try RetryLimits(budget: RetryBudget(retryCost: 0)) } catch { return .standard }
    }()
}

/// A sender of periodic HTTP requests. A monitoring service such as Healthchecks can report a missing request.
///
/// While there is no path to the server, one request is pending. It is sent when the path is back.
struct Heartbeat: Sendable {
    let settings: HeartbeatSettings
    let web: WebSender
    let environment: NotifyEnvironment
    /// Receives the result of each attempt; nil for success.
    let report: @Sendable (DeliveryFailure?) -> Void

    /// Runs until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let start = ContinuousClock.now
            await beat()
            let rest = settings.interval - (ContinuousClock.now - start)
            try? await environment.pause(max(rest, .seconds(1)))
        }
    }

    /// Sends one request, with its retries.
    private func beat() async {
        guard let target = try? RetryTarget(host: web.host, isRepeatable: true) else { return }
        _ = try? await withRetry(
            policy: NotifyEnvironment.policy,
            target: target,
            coordinator: environment.coordinator,
            clock: environment.clock
        ) { _ in
            do throws(DeliveryFailure) {
                try await web.send(.GET)
                report(nil)
            } catch {
                if !Task.isCancelled { report(error) }
                throw error
            }
        }
    }
}
