import LinuxSupport
import NetworkReachability

/// How many packets the kernel has taken in, and how many of them went on to a program or to another machine. What is missing between, its
/// packet filter dropped. No privilege is needed.
///
/// Source: `/proc/net/snmp` and `/proc/net/snmp6`, RFC 4293.
struct PacketCounters: Hashable, Sendable {
    private var lost: [AddressFamily: Int] = [:]
    /// By the reverse path filter (RFC 3704), which is of IPv4 alone.
    private var filtered = 0

    /// Those of a namespace, now. Reads files, on a thread of its own; empty where they cannot be read.
    init(in namespace: NetworkNamespace) {
        let texts = try? Thread.run {
            guard (try? namespace.enter()) != nil else { return [String?]() }
            return ["snmp", "snmp6", "netstat"].map { TextFile.read("/proc/thread-self/net/\($0)") }
        }
        let found = (texts ?? []).map { $0 ?? "" } + ["", "", ""]
        self.init(four: found[0], six: found[1], more: found[2])
    }

    /// - Parameters:
    ///   - four: the text of `snmp`: for each protocol a line of names, and one of numbers.
    ///   - six: the text of `snmp6`: a name and a number on each line.
    ///   - more: the text of `netstat`, as that of `snmp`.
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
        // What is meant for everybody, or for a group, may concern nobody here.
        let others = [
            forwarded, "InMcastPkts", "InBcastPkts", "InHdrErrors", "InAddrErrors", "InUnknownProtos", "InDiscards",
            "InNoRoutes",
        ]
        return received - delivered - others.reduce(0) { $0 + (numbers[$1] ?? 0) }
    }

    /// How many have been dropped since, by family.
    func dropped(since earlier: PacketCounters) -> [AddressFamily: Int] {
        var dropped: [AddressFamily: Int] = [:]
        for (family, count) in lost {
            if let before = earlier.lost[family] { dropped[family] = count - before }
        }
        return dropped
    }

    /// Whether the reverse path filter has dropped any since.
    func isFiltered(since earlier: PacketCounters) -> Bool { filtered > earlier.filtered }
}
