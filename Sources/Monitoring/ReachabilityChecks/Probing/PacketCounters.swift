import LinuxSupport
import NetworkReachability

/// The number of packets that the kernel received and neither delivered nor forwarded. The packet filter dropped them. Needs no privilege.
///
/// Source: `/proc/net/snmp` and `/proc/net/snmp6`, RFC 4293.
struct PacketCounters: Hashable, Sendable {
    private var lost: [AddressFamily: Int] = [:]
    /// The number of packets that the reverse path filter dropped (RFC 3704). It exists only for IPv4.
    private var filtered = 0

    /// Reads the counters of a namespace on a new thread. They are empty if they cannot be read.
    init(in namespace: NetworkNamespace) {
        let texts = try? Thread.run {
            guard (try? namespace.enter()) != nil else { return [String?]() }
            return ["snmp", "snmp6", "netstat"].map { TextFile.read("/proc/thread-self/net/\($0)") }
        }
        let found = (texts ?? []).map { $0 ?? "" } + ["", "", ""]
        self.init(four: found[0], six: found[1], more: found[2])
    }

    /// - Parameters:
    ///   - four: The text of `snmp`, with a line of names and a line of numbers per protocol.
    ///   - six: The text of `snmp6`, with a name and a number per line.
    ///   - more: The text of `netstat`, in the format of `snmp`.
    init(four: String, six: String, more: String = "") {
        if var numbers = Self.numbers("Ip:", four) {
            numbers.merge(Self.numbers("IpExt:", more) ?? [:]) { first, _ in first }
            lost[.ipv4] = Self.lost(numbers, forwarded: "ForwDatagrams")
        }
        filtered = Self.numbers("TcpExt:", more)?["IPReversePathFilter"] ?? 0
        let pairs = six.split(at: "\n").compactMap { line -> (String, Int)? in
            let words = line.words
            guard words.count == 2, words[0].hasPrefix("Ip6"), let number = Int(words[1]) else { return nil }
            return (String(words[0].dropFirst(3)), number)
        }
        if !pairs.isEmpty {
            lost[.ipv6] = Self.lost(Dictionary(pairs) { first, _ in first }, forwarded: "OutForwDatagrams")
        }
    }

    private static func numbers(_ name: String, _ text: String) -> [String: Int]? {
        let rows = text.split(at: "\n").map { $0.split(at: " ") }.filter {
            $0.first.map(String.init) == name
        }
        guard rows.count == 2 else { return nil }
        let pairs = zip(rows[0].dropFirst().map(String.init), rows[1].dropFirst().map { Int($0) ?? 0 })
        return Dictionary(pairs) { first, _ in first }
    }

    private static func lost(_ numbers: [String: Int], forwarded: String) -> Int? {
        guard let received = numbers["InReceives"], let delivered = numbers["InDelivers"] else { return nil }
        // Broadcast and multicast packets may have no receiver on this machine.
        let others = [
            forwarded, "InMcastPkts", "InBcastPkts", "InHdrErrors", "InAddrErrors", "InUnknownProtos", "InDiscards",
            "InNoRoutes",
        ]
        return received - delivered - others.reduce(0) { $0 + (numbers[$1] ?? 0) }
    }

    /// Returns the number of dropped packets since the earlier reading, by family. It is never negative, because a packet that was received
    /// before and delivered since is not counted.
    func dropped(since earlier: PacketCounters) -> [AddressFamily: Int] {
        var dropped: [AddressFamily: Int] = [:]
        for (family, count) in lost {
            if let before = earlier.lost[family] { dropped[family] = max(0, count - before) }
        }
        return dropped
    }

    /// Returns whether the reverse path filter has dropped packets since the earlier reading.
    func isFiltered(since earlier: PacketCounters) -> Bool { filtered > earlier.filtered }
}

/// Counts unsolicited packets that the packet filter drops, so that they are not mistaken for dropped answers. It counts late in a round,
/// when no packet was sent for some time. Thread-safe.
final class UnsolicitedPackets: Sendable {
    /// The start of the count: after the last answer of a round, and before the third SYN.
    private static let begin = Duration.milliseconds(2350)
    private static let length = Duration.milliseconds(600)

    private let namespace: NetworkNamespace
    /// The dropped packets and the duration of the count; nil before it.
    private let counted: Locked<(dropped: [AddressFamily: Int], time: Duration)?>

    init(in namespace: NetworkNamespace, counted: [AddressFamily: Int]? = nil) {
        self.namespace = namespace
        self.counted = Locked(counted.map { ($0, Self.length) })
    }

    /// Counts once. If the task is cancelled, there is no count.
    func listen() async {
        do {
            try await Task.sleep(for: Self.begin)
            let (before, begun) = (PacketCounters(in: namespace), ContinuousClock.now)
            try await Task.sleep(for: Self.length)
            let dropped = PacketCounters(in: namespace).dropped(since: before)
            counted.withLock { $0 = (dropped, .now - begun) }
        } catch {
            return
        }
    }

    /// Subtracts the unsolicited packets from the packets that were dropped during `time`. Their number is extrapolated from the count,
    /// plus the statistical error of a short count. If there was time for a count but none was made, returns zero for each family.
    func removed(from dropped: [AddressFamily: Int], in time: Duration) -> [AddressFamily: Int] {
        guard let counted = counted.withLock(\.self) else {
            return time < Self.begin + Self.length ? dropped : dropped.mapValues { _ in 0 }
        }
        return dropped.reduce(into: [:]) { rest, entry in
            let noise = Self.most(counted.dropped[entry.key] ?? 0) * (time / counted.time)
            rest[entry.key] = max(0, entry.value - Int(noise.rounded(.up)))
        }
    }

    /// Returns the upper bound of a random count: its error is about its square root, and one more packet may have been missed.
    private static func most(_ counted: Int) -> Double {
        counted <= 0 ? 0 : Double(counted) + Double(counted).squareRoot() + 1
    }
}
