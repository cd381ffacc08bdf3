/// When to connect to a broker, and when to give it up. A value that knows no clock.
///
/// It connects while there is a path. After a loss it waits a random time up to its jitter, and up to a minute more while attempts fail, so
/// that many who lost the broker at once do not come back at once.
package struct BrokerLink: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// There is no path.
        case idle
        case waiting(until: Duration)
        case connecting(until: Duration)
        case connected
    }

    package enum Step: Hashable, Sendable {
        case connect
        /// The broker has not answered in time.
        case abandon
    }

    /// So long a connection may take to be made.
    package static let patience = Duration.seconds(20)
    /// The longest wait between attempts that come to nothing, besides the jitter.
    package static let longestWait = Duration.seconds(60)

    package private(set) var state = State.idle
    /// Attempts that were begun.
    package private(set) var attempts: UInt64 = 0
    private let jitter: Duration
    private var hasPath = false
    /// Attempts in a row that came to nothing.
    private var failures = 0

    package init(jitter: Duration) {
        self.jitter = jitter
    }

    /// When ``pass(to:)`` is called next; nil while nothing happens by itself.
    package var deadline: Duration? {
        switch state {
        case .waiting(let until), .connecting(let until): until
        case .idle, .connected: nil
        }
    }

    /// - Parameter chance: From 0 to 1.
    package mutating func changePath(_ isSatisfied: Bool, at now: Duration, chance: Double) -> Step? {
        let had = hasPath
        hasPath = isSatisfied
        switch state {
        // The first attempt of all is made at once; after an outage others come, too.
        case .idle where hasPath && attempts == 0: return connect(at: now)
        case .idle where hasPath: state = .waiting(until: now + jitter * chance)
        case .waiting where !hasPath: state = .idle
        case .waiting where !had: state = .waiting(until: now + jitter * chance)
        default: break
        }
        return nil
    }

    package mutating func pass(to now: Duration) -> Step? {
        switch state {
        case .waiting(let until) where now >= until: return connect(at: now)
        case .connecting(let until) where now >= until: return .abandon
        default: return nil
        }
    }

    /// The broker has accepted.
    package mutating func accept() {
        (state, failures) = (.connected, 0)
    }

    /// The connection, or the attempt, is over.
    ///
    /// - Parameter least: The least wait before the next attempt, besides the jitter.
    package mutating func lose(at now: Duration, chance: Double, waiting least: Duration = .zero) {
        let wait = max(least, failures == 0 ? .zero : min(Self.longestWait, .seconds(1 << min(6, failures))))
        failures += 1
        state = hasPath ? .waiting(until: now + wait + jitter * chance) : .idle
    }

    /// The attempt has told how to do better: another is made at once.
    package mutating func retry(at now: Duration) -> Step { connect(at: now) }

    private mutating func connect(at now: Duration) -> Step {
        attempts += 1
        state = .connecting(until: now + Self.patience)
        return .connect
    }
}
