import LinuxSupport
public import ReachabilityRetry

/// Tells retries what a check finds: a captive portal is waited for, a host is given time, and a certificate that is not trusted ends it.
///
/// ```swift
/// let coordinator = RetryCoordinator(advisor: CheckAdvisor())
/// ```
///
/// | Place of the verdict | Advice |
/// |---|---|
/// | `portal` | ``RetryAdvice/wait``, until a check says that the internet works |
/// | `tls` | ``RetryAdvice/end`` |
/// | `host`, `service` | ``RetryAdvice/backOff`` |
/// | `dns` and all others | ``RetryAdvice/goOn`` |
///
/// All that ask about a host at the same time share one check, and its verdict is good for five seconds. Each check sends what one of
/// ``NetworkCheck`` sends; while nothing fails there is none. Any thread may use it.
public final class CheckAdvisor: RetryAdvisor {
    /// How checks are made.
    package struct Errands: Sendable {
        /// Checks a host, or the internet.
        var place: @Sendable (String?) async -> CheckPlace
        /// Returns when the internet works, or the task is cancelled.
        var untilWorks: @Sendable () async -> Void
        /// The time since any moment.
        var now: @Sendable () -> Duration
    }

    private struct State {
        var known: [String?: (place: CheckPlace, time: Duration)] = [:]
        var rounds: [String?: SharedErrand<CheckPlace>] = [:]
    }

    private let errands: Errands
    private let state = Locked(State())
    /// The wait for the end of a portal, which all hosts share.
    let recovery = SharedErrand<Bool>()

    /// Asks the kernel and sends nothing until it is asked.
    ///
    /// - Parameters:
    ///   - options: How checks are made, and whom they may contact.
    ///   - target: What is checked for a host; nil for the internet alone. Unless set, any word of the host will do, so nothing is learnt
    ///     of its certificate: that takes a URL.
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

    package init(_ errands: Errands) {
        self.errands = errands
    }

    /// What a check that is not older than five seconds says.
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

    /// Returns when the internet works, or the task is cancelled.
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
            // What was cancelled has found out nothing.
            if !Task.isCancelled { state.known[host] = (place, now) }
            state.rounds[host] = nil
        }
    }

    private static let reuse = Duration.seconds(5)

    /// What a place means for a retry.
    package static func advice(at place: CheckPlace) -> RetryAdvice {
        switch place {
        case .portal: .wait
        case .tls: .end
        case .host, .service: .backOff
        case .works, .degraded, .inconclusive, .thisMachine, .link, .gateway, .upstream, .dns: .goOn
        }
    }
}
