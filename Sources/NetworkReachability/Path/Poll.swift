import Netlink

/// Everything that is asked about one target, and what has been answered so far.
struct Poll {
    /// Whose votes count.
    indirect enum Electorate {
        /// The majority of one family, IPv4 before IPv6.
        case families(ipv4: Vote, ipv6: Vote)
        /// Any of the addresses of a host.
        case host(Vote)
    }

    private(set) var electorate: Electorate
    private let mark: UInt32
    /// IPv6 is asked about only if IPv4 does not decide.
    private let isQuick: Bool

    /// About the network at large, for which these addresses stand, IPv4 first.
    init(majorityOf addresses: [IPAddress], mark: UInt32, isQuick: Bool) {
        let ipv4 = addresses.prefix { !$0.isIPv6 }
        electorate = .families(
            ipv4: Vote(ipv4, .majority),
            ipv6: Vote(addresses[ipv4.endIndex...], .majority)
        )
        self.mark = mark
        self.isQuick = isQuick
    }

    /// About a host with these addresses.
    init(anyOf addresses: [IPAddress], mark: UInt32) {
        electorate = .host(Vote(addresses[...], .one))
        self.mark = mark
        isQuick = false
    }

    /// Adds what to ask next, which is nothing when it is decided, and says how much that is.
    func addNext(to questions: inout [RouteJudge.Question]) -> Int {
        let count = questions.count
        switch electorate {
        case .host(let vote):
            add(vote.next, to: &questions)
        case .families(let ipv4, let ipv6):
            add(ipv4.next, to: &questions)
            let isEnough = isQuick && (ipv4.isWon || !ipv4.isDecided)
            if !isEnough { add(ipv6.next, to: &questions) }
        }
        return questions.count - count
    }

    private func add(_ addresses: ArraySlice<IPAddress>, to questions: inout [RouteJudge.Question]) {
        for address in addresses { questions.append(question(address)) }
    }

    func question(_ address: IPAddress) -> RouteJudge.Question {
        RouteJudge.Question(address: address, mark: mark)
    }

    /// Takes the verdicts on what was to be asked next.
    mutating func count(_ verdicts: ArraySlice<Verdict>) {
        switch electorate {
        case .host(var vote):
            vote.count(verdicts)
            electorate = .host(vote)
        case .families(var ipv4, var ipv6):
            let first = ipv4.next.count
            ipv4.count(verdicts.prefix(first))
            ipv6.count(verdicts.dropFirst(first))
            electorate = .families(ipv4: ipv4, ipv6: ipv6)
        }
    }

    /// What it came to.
    var result: PollResult {
        switch electorate {
        case .host(let vote):
            let satisfied = vote.verdicts.filter(\.isSatisfied)
            var result = PollResult(satisfied.isEmpty ? vote.verdicts : satisfied, isSatisfied: !satisfied.isEmpty)
            result.supportsIPv4 = satisfied.contains { !$0.destination.isIPv6 }
            result.supportsIPv6 = satisfied.contains { $0.destination.isIPv6 }
            result.lifetime = vote.verdicts.compactMap(\.lifetime).min()
            return result
        case .families(let ipv4, let ipv6):
            let winner = ipv4.isWon ? ipv4 : ipv6.isWon ? ipv6 : nil
            let all = ipv4.verdicts + ipv6.verdicts
            var result = PollResult(winner?.mostCommonWay ?? all, isSatisfied: winner != nil)
            result.supportsIPv4 = ipv4.isWon
            result.supportsIPv6 = ipv6.isWon
            result.leavesIPv6Open = !ipv6.isDecided
            result.lifetime = all.compactMap(\.lifetime).min()
            return result
        }
    }
}
