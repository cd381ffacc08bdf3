import LinuxPrimitives

/// How often a router may be asked for an ICMP error in one round: three times in three seconds. A Linux router answers a burst with six
/// at most, and then one in a second; of errors about its routes it sends two, and then one in two seconds. Who asks for more gets
/// nothing, and takes from others. Echoes are no errors. Thread-safe.
final class RouterAllowance: Sendable {
    private static let count = 3
    private static let time = Duration.seconds(3)

    private let sendings = Locked<[Duration]>([])

    /// Whether a packet may be sent now; then it counts as sent.
    func take(at now: Duration = SystemClock.monotonic) -> Bool {
        sendings.withLock { sendings in
            sendings.removeAll { $0 <= now - Self.time }
            guard sendings.count < Self.count else { return false }
            sendings.append(now)
            return true
        }
    }
}
