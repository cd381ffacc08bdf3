import Netlink

/// Everything that is asked about one target, and what has been answered so far.
struct Poll {
    /// Among the addresses of a host, or the IPv4 ones that stand for the network at large.
    private(set) var first: Vote
    /// Among the IPv6 ones that do; nil for a host.
    private(set) var second: Vote?
    private let mark: UInt32
    private let interface: Zone
    /// IPv6 is asked about only if IPv4 does not decide.
    private let isQuick: Bool
    /// How many of either were to be asked next when that was asked for last.
    private var asked = (first: 0, second: 0)

    /// About the network at large, for which these addresses stand, IPv4 first: the majority of one family decides, IPv4 before
    /// IPv6.
    init(majorityOf addresses: [IPAddress], mark: UInt32, interface: Zone = .none, isQuick: Bool) {
        let ipv4 = addresses.prefix { !$0.isIPv6 }
        first = Vote(ipv4, .majority)
        second = Vote(addresses[ipv4.endIndex...], .majority)
        self.mark = mark
        self.interface = interface
        self.isQuick = isQuick
    }

    /// About a host with these addresses, any of which will do.
    init(anyOf addresses: [IPAddress], mark: UInt32, interface: Zone = .none) {
        first = Vote(addresses[...], .one)
        second = nil
        self.mark = mark
        self.interface = interface
        isQuick = false
    }

    /// About the servers that names are asked of, any of which will do. The C library's questions carry no mark.
    init(servers: [IPAddress]) {
        self.init(anyOf: servers, mark: 0)
    }

    /// Adds what to ask next, which is nothing when it is decided.
    mutating func addNext(to inquiries: inout [Inquiry]) {
        asked.first = add(first.next, to: &inquiries)
        let isEnough = isQuick && (first.isWon || !first.isDecided)
        asked.second = isEnough ? 0 : add(second?.next ?? [], to: &inquiries)
    }

    private func add(_ addresses: ArraySlice<IPAddress>, to inquiries: inout [Inquiry]) -> Int {
        for address in addresses { inquiries.append(inquiry(address)) }
        return addresses.count
    }

    func inquiry(_ address: IPAddress) -> Inquiry {
        Inquiry(address, mark: mark, interface: interface)
    }

    /// Takes the verdicts on what was to be asked next from the front of `verdicts`.
    mutating func count(_ verdicts: inout ArraySlice<Verdict>) {
        first.count(verdicts.prefix(asked.first))
        verdicts = verdicts.dropFirst(asked.first)
        second?.count(verdicts.prefix(asked.second))
        verdicts = verdicts.dropFirst(asked.second)
    }

    /// What it came to.
    var result: PollResult {
        guard let second else {
            var result = PollResult(deciding: first.verdicts.first(where: \.isSatisfied) ?? first.worst)
            result.supportsIPv4 = first.verdicts.contains { $0.isSatisfied && !$0.destination.isIPv6 }
            result.supportsIPv6 = first.verdicts.contains { $0.isSatisfied && $0.destination.isIPv6 }
            result.lifetime = first.lifetime
            return result
        }
        let decider: Vote? = first.isWon ? first : second.isWon ? second : nil
        var result = PollResult(deciding: decider?.mostCommon ?? Verdict.worse(first.worst, second.worst))
        result.supportsIPv4 = first.isWon
        result.supportsIPv6 = second.isWon
        result.leavesIPv6Open = !second.isDecided
        result.lifetime = first.lifetime.map { min($0, second.lifetime ?? $0) } ?? second.lifetime
        return result
    }
}
