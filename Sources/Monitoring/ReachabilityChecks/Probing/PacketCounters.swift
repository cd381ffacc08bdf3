import LinuxSupport
import NetworkReachability

/// The numbers of packets that the kernel received, and that it delivered or forwarded. The packet filter dropped the difference. Needs no
/// privilege.
///
/// Source: `/proc/net/snmp` and `/proc/net/snmp6`, RFC 4293.
struct PacketCounters: Hashable, Sendable {
    private var lost: [AddressFamily: Int] = [:]
    /// The packets dropped by the reverse path filter (RFC 3704), which exists for IPv4 only.
    private var filtered = 0

    /// Reads the counters of a namespace on a new thread; empty if they cannot be read.
    init(in namespace: NetworkNamespace) {
        let texts = try? Thread.run {
            guard (try? namespace.enter()) != nil else { return [String?]() }
            return ["snmp", "snmp6", "netstat"].map { TextFile.read("/proc/thread-self/net/\($0)") }
        }
        let found = (texts ?? []).map { $0 ?? "" } + ["", "", ""]
        self.init(four: found[0], six: found[1], more: found[2])
    }

    /// - Parameters:
    ///   - four: The text of `snmp`: for each protocol a line of names and a line of numbers.
    ///   - six: The text of `snmp6`: a name and a number on each line.
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
        // Broadcast and multicast packets may have no receiver here.
        let others = [
            forwarded, "InMcastPkts", "InBcastPkts", "InHdrErrors", "InAddrErrors", "InUnknownProtos", "InDiscards",
            "InNoRoutes",
        ]
        return received - delivered - others.reduce(0) { $0 + (numbers[$1] ?? 0) }
    }

    /// Returns the number of packets that were dropped since, by family. A packet received before and delivered since is not counted, so no
    /// number is negative.
    func dropped(since earlier: PacketCounters) -> [AddressFamily: Int] {
        var dropped: [AddressFamily: Int] = [:]
        for (family, count) in lost {
            if let before = earlier.lost[family] { dropped[family] = max(0, count - before) }
        }
        return dropped
    }

    /// Whether the reverse path filter has dropped packets since.
    func isFiltered(since earlier: PacketCounters) -> Bool { filtered > earlier.filtered }
}

/// Counts unrequested packets that the packet filter drops, late in a round when nothing was sent for a while, so that they are not taken
/// for dropped answers. Thread-safe.
final class PacketNoise: Sendable {
    /// After the last answer of a round, and before SYNs are sent a third time.
    private static let begin = Duration.milliseconds(2350)
    private static let length = Duration.milliseconds(600)

    private let namespace: NetworkNamespace
    /// The dropped packets and the time of the count; nil before it.
    private let heard: Locked<(dropped: [AddressFamily: Int], time: Duration)?>

    init(in namespace: NetworkNamespace, heard: [AddressFamily: Int]? = nil) {
        self.namespace = namespace
        self.heard = Locked(heard.map { ($0, Self.length) })
    }

    /// Counts once. A task that is cancelled before counts nothing.
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

    /// Subtracts the noise from the packets that were dropped in a time. The noise is extrapolated from the count, plus the error of a
    /// count this short. If there was time to count and this machine did not count, all packets may be noise, and none is left.
    func removed(from dropped: [AddressFamily: Int], in time: Duration) -> [AddressFamily: Int] {
        guard let heard = heard.withLock(\.self) else {
            return time < Self.begin + Self.length ? dropped : dropped.mapValues { _ in 0 }
        }
        return dropped.reduce(into: [:]) { rest, entry in
            let noise = Self.most(heard.dropped[entry.key] ?? 0) * (time / heard.time)
            rest[entry.key] = max(0, entry.value - Int(noise.rounded(.up)))
        }
    }

    /// The error of a random count is about its square root, and one packet more may have been missed.
    private static func most(_ heard: Int) -> Double {
        heard <= 0 ? 0 : Double(heard) + Double(heard).squareRoot() + 1
    }
}
