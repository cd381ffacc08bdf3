/// Recognises that another client uses the same name. A broker lets one connection be with a name, and ends the other one. Mosquitto 2.0
/// gives no reason for that, so that all there is to see is a connection that ends soon after the broker accepted it, again and again.
///
/// A value that knows no clock.
package struct NameConflict: Hashable, Sendable {
    /// A connection that ends earlier may have been taken over.
    private static let short = Duration.seconds(30)
    /// A connection that lasted longer shows that the name is used by no other client.
    private static let stable = Duration.seconds(300)
    /// How many connections in a row end early before a conflict is likely.
    private static let suspicion = 3

    private var accepted: Duration?
    private var count = 0

    package init() {}

    package var isLikely: Bool { count >= Self.suspicion }

    /// The least wait before the next attempt: both clients would disconnect each other for ever.
    package var wait: Duration { isLikely ? min(BrokerLink.longestWait, .seconds(1 << min(6, count))) : .zero }

    /// The broker has accepted a connection.
    package mutating func accept(at now: Duration) { accepted = now }

    /// The connection, or the attempt, is over.
    ///
    /// - Returns: Whether a conflict became likely.
    package mutating func lose(_ cause: BrokerError.Cause?, at now: Duration) -> Bool {
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
