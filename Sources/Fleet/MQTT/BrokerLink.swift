/// The connection of a client to its broker: when to connect, with which version, and when to give up. A value without a clock.
///
/// It connects while there is a path. After a loss it waits a random time up to its jitter, and up to a minute more while attempts fail, so
/// that clients which lost the broker at the same time do not return at the same time.
package struct BrokerLink: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// There is no path.
        case idle
        case waiting(until: Duration)
        case connecting(until: Duration)
        case connected
        /// The client has sent its last message.
        case leaving(until: Duration)
        case over
    }

    package enum Step: Hashable, Sendable {
        case connect
        /// The broker has not answered in time.
        case abandon
    }

    /// The timeout of an attempt.
    package static let patience = Duration.seconds(20)
    /// The timeout of the last message.
    package static let farewell = Duration.seconds(3)
    /// The maximum delay between failing attempts, without the jitter.
    fileprivate static let longestWait = Duration.seconds(60)

    package private(set) var state = State.idle
    /// The number of attempts, which is also the number of the current one.
    package private(set) var attempts: UInt64 = 0
    package private(set) var hasPath = false
    private let jitter: Duration
    /// The number of consecutive failures.
    private var failures = 0
    private var conflict = NameConflict()
    private var choice = VersionChoice()

    package init(jitter: Duration) {
        self.jitter = jitter
    }

    /// The version of the next attempt.
    package var version: ProtocolVersion { choice.version }

    /// Whether another client probably uses the same name.
    package var hasConflict: Bool { conflict.isLikely }

    /// When ``pass(to:)`` is called next; nil while nothing is due.
    package var deadline: Duration? {
        switch state {
        case .waiting(let until), .connecting(let until), .leaving(let until): until
        case .idle, .connected, .over: nil
        }
    }

    /// - Parameter chance: From 0 to 1.
    package mutating func changePath(_ isSatisfied: Bool, at now: Duration, chance: Double) -> Step? {
        let had = hasPath
        hasPath = isSatisfied
        switch state {
        // Only the first attempt is immediate. After an outage many clients return.
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
        case .leaving(let until) where now >= until: return .abandon
        default: return nil
        }
    }

    /// The broker has accepted.
    ///
    /// - Returns: Whether this shows for the first time that the broker speaks MQTT 3.1.1 only.
    package mutating func accept(at now: Duration) -> Bool {
        state = .connected
        conflict.accept(at: now)
        return choice.settle()
    }

    /// The connection is useful. The next loss is the first failure.
    package mutating func confirm() { failures = 0 }

    /// An attempt has failed. Returns true if another one begins immediately with MQTT 3.1.1.
    package mutating func fallsBack(_ error: BrokerError?, at now: Duration) -> Bool {
        guard case .connecting = state, choice.fallsBack(error) else { return false }
        _ = connect(at: now)
        return true
    }

    /// The connection, or the attempt, has ended.
    ///
    /// - Returns: Whether a conflict of names has become likely.
    package mutating func lose(_ cause: BrokerError.Cause?, at now: Duration, chance: Double) -> Bool {
        let isNew = conflict.lose(cause, at: now)
        retreat(at: now, chance: chance)
        return isNew
    }

    /// Waits for the next attempt.
    package mutating func retreat(at now: Duration, chance: Double) {
        let wait = max(conflict.wait, failures == 0 ? .zero : min(Self.longestWait, .seconds(1 << min(6, failures))))
        failures += 1
        state = hasPath ? .waiting(until: now + wait + jitter * chance) : .idle
    }

    package mutating func leave(at now: Duration) { state = .leaving(until: now + Self.farewell) }

    package mutating func end() { state = .over }

    private mutating func connect(at now: Duration) -> Step {
        attempts += 1
        state = .connecting(until: now + Self.patience)
        return .connect
    }
}

/// Detects that another client uses the same name. A broker ends the older of two connections with one name. Mosquitto 2.0 gives no reason,
/// so the only sign is that connections repeatedly end soon after the broker has accepted them.
private struct NameConflict: Hashable, Sendable {
    /// A connection that ends earlier may have been taken over.
    private static let short = Duration.seconds(30)
    /// A connection that lasted longer shows that the name is used by no other client.
    private static let stable = Duration.seconds(300)
    /// How many connections in a row end early before a conflict is likely.
    private static let suspicion = 3

    private var accepted: Duration?
    private var count = 0

    var isLikely: Bool { count >= Self.suspicion }

    /// The minimum delay before the next attempt, so that the clients do not disconnect each other again and again.
    var wait: Duration { isLikely ? min(BrokerLink.longestWait, .seconds(1 << min(6, count))) : .zero }

    /// The broker has accepted a connection.
    mutating func accept(at now: Duration) { accepted = now }

    /// The connection, or the attempt, is over.
    ///
    /// - Returns: Whether a conflict became likely.
    mutating func lose(_ cause: BrokerError.Cause?, at now: Duration) -> Bool {
        defer { accepted = nil }
        let was = isLikely
        switch (cause, accepted.map { now - $0 }) {
        case (.lost, let life?), (.ended(.sessionTakenOver), let life?):
            if life < Self.short { count += 1 } else if life >= Self.stable { count = 0 }
        default: count = 0
        }
        return isLikely && !was
    }
}

/// The version of MQTT.
///
/// Version 3.1.1 has no delay of the will and no expiry: the broker publishes the will immediately, keeps retained messages until they are
/// replaced, and keeps sessions forever.
///
/// Source: MQTT Version 5.0, OASIS Standard, 7 March 2019; MQTT Version 3.1.1, OASIS Standard, 29 October 2014.
package enum ProtocolVersion: Hashable, Sendable {
    case five
    case threeOneOne
}

extension BrokerError {
    /// Whether a broker that has not accepted MQTT 5 may accept 3.1.1: it says so, or it has ended the connection, as a broker does that
    /// cannot read the request.
    ///
    /// Source: MQTT 5.0, 3.1.2.2, Protocol Version.
    fileprivate var mayBeOfVersion: Bool {
        switch cause {
        case .refused(.unsupportedProtocolVersion), .lost, .handshake: true
        default: false
        }
    }
}

/// The version for a broker: 5, or 3.1.1 for a broker without MQTT 5.
private struct VersionChoice: Hashable, Sendable {
    private(set) var version = ProtocolVersion.five
    /// Whether the broker has accepted the version. Then it does not change.
    private var isSettled = false
    /// Whether the broker has refused the other version.
    private var isOnly = false
    /// Whether it was reported that the broker speaks 3.1.1.
    private var isReported = false

    /// - Returns: Whether to try 3.1.1 immediately. If that fails, too, the next attempt uses 5.
    mutating func fallsBack(_ error: BrokerError?) -> Bool {
        guard !isSettled else { return false }
        let mayBe = version == .five && error?.mayBeOfVersion ?? false
        version = mayBe ? .threeOneOne : .five
        if case .refused(.unsupportedProtocolVersion)? = error?.cause { isOnly = mayBe }
        return mayBe
    }

    /// Unless the broker has refused MQTT 5, the next attempt uses 5 again, because the broker may just have been stopping.
    ///
    /// - Returns: Whether this shows for the first time that the broker speaks 3.1.1.
    mutating func settle() -> Bool {
        guard !isSettled else { return false }
        let isOld = version == .threeOneOne
        if isOld, !isOnly { version = .five } else { isSettled = true }
        defer { isReported = isReported || isOld }
        return isOld && !isReported
    }
}
