import LinuxSupport

/// What the kernel has measured of one connection, whoever it belongs to.
struct ConnectionReading: Hashable, Sendable {
    struct Ends: Hashable, Sendable {
        var local: WireAddress
        var localPort: UInt16
        var remote: WireAddress
        var remotePort: UInt16
    }

    var ends: Ends
    /// Since the far end has sent or acknowledged something.
    var age: Duration
    /// Segments since it was opened, with those that were sent again.
    var sent: Int
    var retransmitted: Int
    /// Segments that are believed to be lost now.
    var lost: Int
}

/// Whether answers come, and whether segments get lost: of all connections over one line, from one observation to the next.
struct TrafficWitness: Sendable {
    /// Of the newest answers so many are looked at more closely.
    static let candidates = 8
    /// Fewer segments say nothing.
    private static let leastSent = 10
    private static let stalledShare = 80

    private var readings: [ConnectionReading.Ends: ConnectionReading] = [:]
    private(set) var sent = 0
    private(set) var retransmitted = 0
    private(set) var lost = 0

    /// Takes what the connections look like now. At first there is nothing to compare with.
    mutating func take(_ now: [ConnectionReading]) {
        let before = readings
        readings = Dictionary(now.map { ($0.ends, $0) }) { first, _ in first }
        (sent, retransmitted, lost) = (0, 0, 0)
        for reading in now {
            guard let last = before[reading.ends], last.sent <= reading.sent else { continue }
            sent += reading.sent - last.sent
            retransmitted += max(0, reading.retransmitted - last.retransmitted)
            // One that sends nothing loses nothing more.
            if reading.sent > last.sent { lost += reading.lost }
        }
    }

    /// Whether nearly all that was sent got lost.
    var isStalled: Bool { sent >= Self.leastSent && (retransmitted + lost) * 100 >= sent * Self.stalledShare }

    /// The connections whose far ends have spoken within `freshness`, the latest first.
    func newest(within freshness: Duration) -> [ConnectionReading] {
        let fresh = readings.values.filter { $0.age < freshness }
        return Array(fresh.sorted { $0.age < $1.age }.prefix(Self.candidates))
    }
}
