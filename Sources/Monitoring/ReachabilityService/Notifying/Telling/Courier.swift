import Dispatch
import LinuxSupport
import NetworkReachability
import ReachabilityRetry

/// Brings one recipient what is to be told, one attempt at a time: again after a failure, at once when the network is back or when there
/// is something else to tell.
///
/// What is told is asked for at the last moment, so that what began and ended while nobody could be told is told once, with its end.
final class Courier: Sendable {
    /// What a courier works with.
    struct Office: Sendable {
        /// What is due now, and what lasts where that is told again.
        let letters: @Sendable (_ courier: String, _ repeats: Bool) -> [Notification]
        /// Told of what is about to be told.
        let tries: @Sendable (_ courier: String, [Notification]) -> Void
        /// Told of what was taken, and of what is given up with the reason.
        let done: @Sendable (_ courier: String, [Notification], DeliveryFailure?) -> Void
        /// Told of an attempt that failed and is made again.
        let postponed: @Sendable (_ courier: String, DeliveryFailure) -> Void
        let environment: NotifyEnvironment
        let clock: any MonitorClock
    }

    private struct State {
        var notifier: NotifierSettings
        var sender: any NotificationSender
        var work: Task<Void, Never>?
        /// Whether there may be something new since the work began.
        var again = false
        /// Whether a retry is waited for.
        var isWaiting = false
        /// What is tried, or was last.
        var tried: [String] = []
        /// The ids of the beginnings that are being sent over the network.
        var beginnings: Set<String> = []
        var alarm: Cancellation?
        var isOver = false
    }

    let key: String
    private let office: Office
    private let queue = DispatchQueue(label: "ReachabilityService.courier")
    /// Not on the global queues, which never sleep again.
    private let tasks = TaskQueue(label: "ReachabilityService.courier.tasks")
    private let state: Locked<State>

    init(_ key: String, _ notifier: NotifierSettings, _ sender: any NotificationSender, _ office: Office) {
        (self.key, self.office) = (key, office)
        state = Locked(State(notifier: notifier, sender: sender))
    }

    var notifier: NotifierSettings { state.withLock(\.notifier) }

    /// Goes on in another way. What is being told is told to its end.
    func update(_ notifier: NotifierSettings, _ sender: any NotificationSender) {
        state.withLock { state in
            (state.notifier, state.sender) = (notifier, sender)
            if let work = state.work, state.isWaiting {
                state.again = true
                work.cancel()
            }
        }
    }

    /// There may be something to tell. Nobody is waited for.
    func look() {
        let letters = office.letters(key, repeats)
        guard !letters.isEmpty else { return }
        let marks = letters.map(\.mark)
        state.withLock { state in
            // What was tried is tried again by itself.
            if state.isOver || state.tried == marks { return }
            state.tried = marks
            guard let work = state.work else { return begin(&state) }
            state.again = true
            // Something else is to be told than what could not be: that is a new chance. A beginning that is still on its way must not
            // arrive after the end.
            let isOutdated = !state.beginnings.isSubset(of: letters.map(\.id))
            if state.isWaiting || isOutdated { work.cancel() }
        }
    }

    /// Ends what is under way, and waits for that. What was not told stays to be told.
    func stop() async {
        let work = state.withLock { state in
            state.isOver = true
            state.alarm = nil
            state.work?.cancel()
            return state.work
        }
        await work?.value
    }

    /// Waits until nothing is being told, nor tried.
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
            office.clock.schedule(after: pause, on: queue) { [weak self] in self?.look(afresh: true) }
        }
        state.withLock { state in
            state.work = nil
            if state.isOver { return }
            state.alarm = alarm
            if state.again { begin(&state) }
        }
    }

    private var repeats: Bool { state.withLock { $0.sender.repetition != nil } }

    private func look(afresh: Bool) {
        if afresh { state.withLock { $0.tried = [] } }
        look()
    }

    /// Tells all there is.
    ///
    /// - Returns: When to look again; nil where that is not needed.
    private func work() async -> Duration? {
        let wasOffline = Locked(false)
        let sender = state.withLock(\.sender)
        let target = sender.host.flatMap { try? RetryTarget(host: $0, isRepeatable: true) }
        do {
            let outcome = try await withRetry(
                policy: NotifyEnvironment.policy,
                target: target ?? .network(isRepeatable: true),
                coordinator: office.environment.coordinator,
                clock: office.environment.clock,
                observer: { [weak self] event in
                    if case .waiting = event { self?.state.withLock { $0.isWaiting = true } }
                },
                operation: { [weak self] _ in
                    guard let self else { return false }
                    state.withLock { $0.isWaiting = false }
                    // What ended with the network's return is known a moment later.
                    if wasOffline.withLock({ $0 }) { try await office.environment.pause(Self.grace) }
                    return try await tell(wasOffline)
                }
            )
            return outcome.value ? sender.repetition : nil
        } catch {
            return Task.isCancelled ? nil : Self.rest
        }
    }

    private static let grace = Duration.seconds(2)
    /// Where even retrying was given up.
    private static let rest = Duration.seconds(60)

    /// - Returns: Whether anything lasts that was told.
    private func tell(_ wasOffline: Locked<Bool>) async throws(DeliveryFailure) -> Bool {
        while true {
            let sender = state.withLock { state in
                // What is new until now is told now.
                if !Task.isCancelled { state.again = false }
                return state.sender
            }
            var letters = office.letters(key, sender.repetition != nil)
            if letters.isEmpty { return false }
            if sender.repetition == nil { letters = [letters[0]] }
            state.withLock { [marks = letters.map(\.mark)] in $0.tried = marks }
            office.tries(key, letters)
            let beginnings =
                sender.host == nil ? [] : letters.filter { $0.event == .began && !$0.incident.isOver }.map(\.id)
            state.withLock { $0.beginnings = Set(beginnings) }
            defer { state.withLock { $0.beginnings = [] } }
            do throws(DeliveryFailure) {
                try await sender.send(letters)
                office.done(key, letters, nil)
            } catch {
                if Task.isCancelled { throw error }
                if let stage = error.failureStage {
                    wasOffline.withLock { $0 = stage == .neverSent }
                    office.postponed(key, error)
                    throw error
                }
                office.done(key, letters, error)
            }
            if sender.repetition != nil { return letters.contains { !$0.incident.isOver } }
        }
    }
}

extension Notification {
    /// Tells two things to tell apart.
    fileprivate var mark: String {
        "\(id) \(incident.members.count) \(incident.members.count { $0.end != nil }) \(incident.state)"
    }
}
