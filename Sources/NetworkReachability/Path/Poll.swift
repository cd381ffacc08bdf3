import Netlink

/// Everything that is asked about one target, and what has been answered so far.
struct Poll {
    /// Among the addresses of a host, or the IPv4 ones that stand for the network at large.
    private(set) var first: Vote
    /// Among the IPv6 ones that do; nil for a host.
    private(set) var second: Vote?
    private let mark: UInt32
    /// IPv6 is asked about only if IPv4 does not decide.
    private let isQuick: Bool
    /// How many were to be asked next when that was asked for last.
    private(set) var asked = 0

    /// About the network at large, for which these addresses stand, IPv4 first: the majority of one family decides, IPv4 before
    /// IPv6.
    init(majorityOf addresses: [IPAddress], mark: UInt32, isQuick: Bool) {
        let ipv4 = addresses.prefix { !$0.isIPv6 }
        first = Vote(ipv4, .majority)
        second = Vote(addresses[ipv4.endIndex...], .majority)
        self.mark = mark
        self.isQuick = isQuick
    }

    /// About a host with these addresses, any of which will do.
    init(anyOf addresses: [IPAddress], mark: UInt32) {
        first = Vote(addresses[...], .one)
        second = nil
        self.mark = mark
        isQuick = false
    }

    /// Adds what to ask next, which is nothing when it is decided.
    mutating func addNext(to questions: inout [RouteJudge.Question]) {
        let count = questions.count
        add(first.next, to: &questions)
        let isEnough = isQuick && (first.isWon || !first.isDecided)
        if let second, !isEnough { add(second.next, to: &questions) }
        asked = questions.count - count
    }

    private func add(_ addresses: ArraySlice<IPAddress>, to questions: inout [RouteJudge.Question]) {
        for address in addresses { questions.append(question(address)) }
    }

    func question(_ address: IPAddress) -> RouteJudge.Question {
        RouteJudge.Question(address: address, mark: mark)
    }

    /// Takes the verdicts on what was to be asked next.
    mutating func count(_ verdicts: ArraySlice<Verdict>) {
        let count = first.next.count
        first.count(verdicts.prefix(count))
        second?.count(verdicts.dropFirst(count))
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
