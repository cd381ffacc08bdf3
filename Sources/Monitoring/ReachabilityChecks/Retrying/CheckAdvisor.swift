import LinuxSupport
public import ReachabilityRetry

/// Advises retries with the verdict of a check: wait in a captive portal, back off from a faulty host, and give up if a certificate is not
/// trusted.
///
/// ```swift
/// let coordinator = RetryCoordinator(advisor: CheckAdvisor())
/// ```
///
/// | Place of the verdict | Advice |
/// |---|---|
/// | `portal` | ``RetryAdvice/wait``, until a check finds that the internet works |
/// | `tls` | ``RetryAdvice/end`` |
/// | `host`, `service` | ``RetryAdvice/backOff`` |
/// | `dns` and all others | ``RetryAdvice/goOn`` |
///
/// Concurrent callers for one host share a check, and its verdict is used for five seconds. A check sends the packets of a
/// ``NetworkCheck``. Without failures there is no check. Thread-safe.
public final class CheckAdvisor: RetryAdvisor {
    /// The operations of an advisor. Tests replace them.
    struct Errands: Sendable {
        /// Checks a host, or the internet if nil, and returns the place of the verdict.
        var place: @Sendable (String?) async -> CheckPlace
        /// Returns when the internet works or the task is cancelled.
        var untilWorks: @Sendable () async -> Void
        /// Returns the time since a fixed moment.
        var now: @Sendable () -> Duration
    }

    private struct State {
        var known: [String?: (place: CheckPlace, time: Duration)] = [:]
        var rounds: [String?: SharedErrand<CheckPlace>] = [:]
    }

    private let errands: Errands
    private let state = Locked(State())
    /// The wait for the end of a portal, shared by all hosts.
    let recovery = SharedErrand<Bool>()

    /// Creates an advisor. It sends no packet until its first advice.
    ///
    /// - Parameters:
    ///   - options: The options of the checks, including the hosts that they may contact.
    ///   - target: Returns the target to check for a host. If it returns nil, only the internet is checked. By default any answer of the
    ///     host is sufficient, and its certificate is not checked. To check the certificate, return a URL.
    public convenience init(
        options: CheckOptions = CheckOptions(),
        target: @escaping @Sendable (_ host: String) -> CheckTarget? = { try? CheckTarget($0) }
    ) {
        self.init(
            Errands(
                place: { host in
                    let check = NetworkCheck(target: host.flatMap(target), options: options)
                    let report = try? await check.run()
                    return report?.verdict.place ?? .inconclusive
                },
                untilWorks: { _ = await NetworkCheck(options: options).firstSuccess() },
                now: { SystemClock.boot }
            )
        )
    }

    init(_ errands: Errands) {
        self.errands = errands
    }

    /// Returns the advice according to a check that is at most five seconds old.
    public func advice(for host: String?) async -> RetryAdvice {
        let now = errands.now()
        let (known, round) = state.withLock { state in
            state.known = state.known.filter { now - $0.value.time < Self.reuse }
            let round = state.rounds[host] ?? SharedErrand()
            state.rounds[host] = round
            return (state.known[host]?.place, round)
        }
        if let known { return Self.advice(at: known) }
        let place = await round.value { [errands, weak self] in
            let place = await errands.place(host)
            self?.keep(place, of: host)
            return place
        }
        return place.map(Self.advice) ?? .goOn
    }

    /// Returns when the internet works or the task is cancelled.
    public func waitForEnd(of host: String?) async {
        _ = await recovery.value { [errands] in
            await errands.untilWorks()
            return true
        }
        state.withLock { $0.known = [:] }
    }

    private func keep(_ place: CheckPlace, of host: String?) {
        let now = errands.now()
        state.withLock { state in
            // A cancelled check has no result.
            if !Task.isCancelled { state.known[host] = (place, now) }
            state.rounds[host] = nil
        }
    }

    private static let reuse = Duration.seconds(5)

    /// Returns the advice for a place.
    static func advice(at place: CheckPlace) -> RetryAdvice {
        switch place {
        case .portal: .wait
        case .tls: .end
        case .host, .service: .backOff
        case .works, .degraded, .inconclusive, .thisMachine, .link, .gateway, .upstream, .dns: .goOn
        }
    }
}

/// Work that starts with its first waiter and is shared by all later ones. It is cancelled when the last waiter leaves.
final class SharedErrand<Value: Sendable>: Sendable {
    private struct State {
        var waiters: [UInt64: AsyncStream<Value>.Continuation] = [:]
        var lastID: UInt64 = 0
        var task: Task<Void, Never>?
        /// The number of the task. The result of a cancelled task is discarded.
        var turn = 0
    }

    private let state = Locked(State())

    /// The number of waiters.
    var waiters: Int { state.withLock { $0.waiters.count } }

    /// Returns the result of the shared work. Nil if the task is cancelled.
    func value(_ work: @escaping @Sendable () async -> Value) async -> Value? {
        let (stream, waiter) = AsyncStream.makeStream(of: Value.self)
        let id = state.withLock { state in
            state.lastID += 1
            state.waiters[state.lastID] = waiter
            if state.task == nil {
                state.turn += 1
                state.task = Task { [turn = state.turn] in self.end(await work(), turn) }
            }
            return state.lastID
        }
        waiter.onTermination = { [weak self] _ in self?.leave(id) }
        return await stream.first { _ in true }
    }

    private func end(_ value: Value, _ turn: Int) {
        let waiters = state.withLock { state -> [AsyncStream<Value>.Continuation] in
            guard state.turn == turn, state.task != nil else { return [] }
            defer { (state.waiters, state.task) = ([:], nil) }
            return Array(state.waiters.values)
        }
        for waiter in waiters {
            waiter.yield(value)
            waiter.finish()
        }
    }

    private func leave(_ id: UInt64) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard state.waiters.removeValue(forKey: id) != nil, state.waiters.isEmpty else { return nil }
            defer { state.task = nil }
            return state.task
        }
        task?.cancel()
    }
}
