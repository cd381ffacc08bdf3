import LinuxSupport
public import ReachabilityRetry

/// An advisor that checks the network after a failure and chooses how to retry: wait in a captive portal, back off from a faulty host, and
/// give up if a certificate is not trusted.
///
/// ```swift
/// let coordinator = RetryCoordinator(advisor: CheckAdvisor())
/// ```
///
/// | Place of the verdict | Advice |
/// |---|---|
/// | `portal` | `RetryAdvice.wait`, until a check finds that the internet works |
/// | `tls` | `RetryAdvice.end` |
/// | `host`, `service` | `RetryAdvice.backOff` |
/// | `dns` and all others | `RetryAdvice.followPolicy` |
///
/// Concurrent callers for one host share a check, and its verdict is used for five seconds. A check sends the packets of a
/// ``NetworkCheck``. No check is made before the first failure. Thread-safe.
public final class CheckAdvisor: RetryAdvisor {
    /// The operations of an advisor. Tests replace them.
    struct Operations: Sendable {
        /// Checks a host, or the internet if nil, and returns the place of the verdict.
        var place: @Sendable (String?) async -> CheckPlace
        /// Returns when the internet works or the task is cancelled.
        var untilWorks: @Sendable () async -> Void
        /// Returns the time since a fixed moment.
        var now: @Sendable () -> Duration
    }

    private let operations: Operations
    private let known = Locked<[String?: (place: CheckPlace, time: Duration)]>([:])
    private let checks = SingleFlight<String?, CheckPlace>()
    /// The wait for the end of a portal, shared by all hosts.
    let recovery = SingleFlight<CheckPlace, Bool>()

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
            Operations(
                place: { host in
                    let check = NetworkCheck(target: host.flatMap(target), options: options)
                    let report = try? await check.run()
                    return report?.verdict.failurePoint ?? .inconclusive
                },
                untilWorks: { _ = await NetworkCheck(options: options).firstSuccess() },
                now: { SystemClock.boot }
            )
        )
    }

    init(_ operations: Operations) {
        self.operations = operations
    }

    /// Returns the advice according to a check that is at most five seconds old.
    public func advice(for host: String?) async -> RetryAdvice {
        let now = operations.now()
        let place = known.withLock { known in
            known = known.filter { now - $0.value.time < Self.reuse }
            return known[host]?.place
        }
        if let place { return Self.advice(at: place) }
        let checked = await checks.value(for: host) { [operations, known] in
            let place = await operations.place(host)
            let now = operations.now()
            // A cancelled check has no result.
            if !Task.isCancelled { known.withLock { $0[host] = (place, now) } }
            return place
        }
        return checked.map(Self.advice) ?? .followPolicy
    }

    /// Returns when the internet works or the task is cancelled.
    public func waitForEnd(of host: String?) async {
        _ = await recovery.value(for: .portal) { [operations] in
            await operations.untilWorks()
            return true
        }
        known.withLock { $0 = [:] }
    }

    private static let reuse = Duration.seconds(5)

    /// Returns the advice for a place.
    static func advice(at place: CheckPlace) -> RetryAdvice {
        switch place {
        case .portal: .wait
        case .tls: .end
        case .host, .service: .backOff
        case .works, .degraded, .inconclusive, .thisMachine, .link, .gateway, .upstream, .dns: .followPolicy
        }
    }
}
