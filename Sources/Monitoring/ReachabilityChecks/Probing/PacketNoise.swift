import LinuxSupport
import NetworkReachability

/// What the packet filter drops that nobody here has asked for: counted late in a round, when nothing was sent for a while, so that it is
/// not taken for answers. Thread-safe.
final class PacketNoise: Sendable {
    /// After the last question of a round has had its answer, and before SYNs are sent a third time.
    private static let begin = Duration.milliseconds(2350)
    private static let length = Duration.milliseconds(600)

    private let namespace: NetworkNamespace
    /// What was dropped in what time; nil as long as nothing was counted.
    private let heard: Locked<(dropped: [AddressFamily: Int], time: Duration)?>

    init(in namespace: NetworkNamespace, heard: [AddressFamily: Int]? = nil) {
        self.namespace = namespace
        self.heard = Locked(heard.map { ($0, Self.length) })
    }

    /// Counts, once; a task that is cancelled before has heard nothing.
    func listen() async {
        do {
            try await Task.sleep(for: Self.begin)
            let (before, begun) = (PacketCounters(in: namespace), ContinuousClock.now)
            try await Task.sleep(for: Self.length)
            let dropped = PacketCounters(in: namespace).dropped(since: before)
            heard.withLock { $0 = (dropped, .now - begun) }
        } catch {
            return
        }
    }

    /// What is left of the packets that were dropped in a time, if noise came all the time as it came while it was counted, or by as much
    /// more as a count so short may be off. Nothing is, where there was time to count and this machine did not come to it: all may be
    /// noise.
    func removed(from dropped: [AddressFamily: Int], in time: Duration) -> [AddressFamily: Int] {
        guard let heard = heard.withLock(\.self) else {
            return time < Self.begin + Self.length ? dropped : dropped.mapValues { _ in 0 }
        }
        return dropped.reduce(into: [:]) { rest, entry in
            let noise = Self.most(heard.dropped[entry.key] ?? 0) * (time / heard.time)
            rest[entry.key] = max(0, entry.value - Int(noise.rounded(.up)))
        }
    }

    /// What comes at random differs by about the root of its count, and one more may just not have been counted.
    private static func most(_ heard: Int) -> Double {
        heard == 0 ? 0 : Double(heard) + Double(heard).squareRoot() + 1
    }
}
