/// The connection state of an MQTT client: when to connect, with which protocol version, and when to give up. A value
/// without a clock.
///
/// The client connects while the network has a path. After a loss it waits a random time up to the jitter. While
/// attempts fail, it waits up to a minute longer. The random time spreads the reconnections of clients that lost the
/// broker at the same time.
package struct BrokerLink: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// The network has no path to the broker.
        case idle
        case waiting(until: Duration)
        case connecting(until: Duration)
        case connected
        /// The client is sending its last message.
        case leaving(until: Duration)
        case over
    }

    package enum Step: Hashable, Sendable {
        case connect
        /// The broker has not answered before the timeout.
        case abandon
    }

    /// The timeout of a connection attempt.
    package static let connectTimeout = Duration.seconds(20)
    /// The timeout for sending the last message and closing.
    package static let closeTimeout = Duration.seconds(3)
    /// The maximum delay between failed attempts, without the jitter.
    fileprivate static let longestWait = Duration.seconds(60)

    package private(set) var state = State.idle
    /// The number of connection attempts so far, which identifies the current attempt.
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

    /// The protocol version of the next attempt.
    package var version: ProtocolVersion { choice.version }

    /// Whether another client probably uses the same client identifier.
    package var hasConflict: Bool { conflict.isLikely }

    /// The time of the next call of ``pass(to:)``; nil if no timer is running.
    package var deadline: Duration? {
        switch state {
        case .waiting(let until), .connecting(let until), .leaving(let until): until
        case .idle, .connected, .over: nil
        }
    }

    /// Records whether the network has a path.
    ///
    /// - Parameter chance: A random number from 0 to 1, the fraction of the jitter to wait.
    package mutating func changePath(_ isSatisfied: Bool, at now: Duration, chance: Double) -> Step? {
        let had = hasPath
        hasPath = isSatisfied
        switch state {
        // Only the first attempt starts immediately. After an outage many clients reconnect, so each waits a random
        // time.
        case .idle where hasPath && attempts == 0: return connect(at: now)
        case .idle where hasPath: state = .waiting(until: now + jitter * chance)
        case .waiting where !hasPath: state = .idle
        case .waiting where !had: state = .waiting(until: now + jitter * chance)
        default: break
        }
        return nil
    }

    /// Advances the time, and returns the step that is due.
    package mutating func pass(to now: Duration) -> Step? {
        switch state {
        case .waiting(let until) where now >= until: return connect(at: now)
        case .connecting(let until) where now >= until: return .abandon
        case .leaving(let until) where now >= until: return .abandon
        default: return nil
        }
    }

    /// Records that the broker has accepted the connection.
    ///
    /// - Returns: True the first time that a broker is found to support only MQTT 3.1.1.
    package mutating func accept(at now: Duration) -> Bool {
        state = .connected
        conflict.accept(at: now)
        return choice.settle()
    }

    /// Records that the connection works. The next loss counts as the first failure.
    package mutating func confirm() { failures = 0 }

    /// Records a failed attempt. Returns true if the client immediately tries again with MQTT 3.1.1.
    package mutating func fallsBack(_ error: BrokerError?, at now: Duration) -> Bool {
        guard case .connecting = state, choice.fallsBack(error) else { return false }
        _ = connect(at: now)
        return true
    }

    /// Records the end of the connection or of the attempt.
    ///
    /// - Returns: True if a conflict of client identifiers has just become likely.
    package mutating func connectionEnded(_ cause: BrokerError.Cause?, at now: Duration, chance: Double) -> Bool {
        let isNew = conflict.connectionEnded(cause, at: now)
        scheduleReconnect(at: now, chance: chance)
        return isNew
    }

    /// Schedules the next attempt.
    package mutating func scheduleReconnect(at now: Duration, chance: Double) {
        let wait = max(conflict.wait, failures == 0 ? .zero : min(Self.longestWait, .seconds(1 << min(6, failures))))
        failures += 1
        state = hasPath ? .waiting(until: now + wait + jitter * chance) : .idle
    }

    package mutating func leave(at now: Duration) { state = .leaving(until: now + Self.closeTimeout) }

    package mutating func end() { state = .over }

    private mutating func connect(at now: Duration) -> Step {
        attempts += 1
        state = .connecting(until: now + Self.connectTimeout)
        return .connect
    }
}

/// A detector of a second client with the same client identifier. A broker ends the older of two connections with one
/// identifier. Mosquitto 2.0 sends no reason code, so the only sign is that several connections end soon after the
/// broker has accepted them.
private struct NameConflict: Hashable, Sendable {
    /// A connection that ends before this time may have been taken over by another client.
    private static let short = Duration.seconds(30)
    /// A connection that lasts at least this long shows that no other client uses the identifier.
    private static let stable = Duration.seconds(300)
    /// The number of consecutive short connections that make a conflict likely.
    private static let suspicion = 3

    private var accepted: Duration?
    private var count = 0

    var isLikely: Bool { count >= Self.suspicion }

    /// The minimum delay before the next attempt. It keeps the two clients from disconnecting each other repeatedly.
    var wait: Duration { isLikely ? min(BrokerLink.longestWait, .seconds(1 << min(6, count))) : .zero }

    /// Records that the broker has accepted a connection.
    mutating func accept(at now: Duration) { accepted = now }

    /// Records the end of the connection or of the attempt.
    ///
    /// - Returns: True if a conflict has just become likely.
    mutating func connectionEnded(_ cause: BrokerError.Cause?, at now: Duration) -> Bool {
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

/// A version of the MQTT protocol.
///
/// MQTT 3.1.1 has no will delay and no expiry. The broker publishes the will immediately, keeps retained messages until
/// they are replaced, and keeps sessions indefinitely.
///
/// Source: MQTT Version 5.0, OASIS Standard, 7 March 2019; MQTT Version 3.1.1, OASIS Standard, 29 October 2014.
package enum ProtocolVersion: Hashable, Sendable {
    case five
    case threeOneOne
}

extension BrokerError {
    /// True if the error suggests that the broker supports MQTT 3.1.1 but not MQTT 5. The broker has either refused the
    /// version explicitly, or has closed the connection, as a broker does that cannot parse the request.
    ///
    /// Source: MQTT 5.0, 3.1.2.2, Protocol Version.
    fileprivate var mayBeOfVersion: Bool {
        switch cause {
        case .refused(.unsupportedProtocolVersion), .lost, .handshake: true
        default: false
        }
    }
}

/// The choice of the protocol version: MQTT 5, or MQTT 3.1.1 for a broker that does not support MQTT 5.
private struct VersionChoice: Hashable, Sendable {
    private(set) var version = ProtocolVersion.five
    /// True if the broker has accepted the version. The version is then final.
    private var isFinal = false
    /// True if the broker has explicitly refused MQTT 5.
    private var isFiveRefused = false
    /// True if the fallback to MQTT 3.1.1 has been reported.
    private var isReported = false

    /// Chooses the version for the attempt after a failure.
    ///
    /// - Returns: Whether to try MQTT 3.1.1 immediately. If that fails too, the next attempt uses MQTT 5.
    mutating func fallsBack(_ error: BrokerError?) -> Bool {
        guard !isFinal else { return false }
        let mayBe = version == .five && error?.mayBeOfVersion ?? false
        version = mayBe ? .threeOneOne : .five
        if case .refused(.unsupportedProtocolVersion)? = error?.cause { isFiveRefused = mayBe }
        return mayBe
    }

    /// Records that the broker has accepted the version. If the broker has not explicitly refused MQTT 5, the next
    /// connection tries MQTT 5 again, because the failure of MQTT 5 may have had another reason, such as a broker that
    /// was stopping.
    ///
    /// - Returns: True the first time that a broker is found to support only MQTT 3.1.1.
    mutating func settle() -> Bool {
        guard !isFinal else { return false }
        let isOld = version == .threeOneOne
        if isOld, !isFiveRefused { version = .five } else { isFinal = true }
        defer { isReported = isReported || isOld }
        return isOld && !isReported
    }
}
