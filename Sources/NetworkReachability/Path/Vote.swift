import Netlink

/// A vote among addresses, over as soon as its end is certain.
struct Vote {
    /// How it is won.
    enum Rule {
        /// More than half of the addresses have a path; as many are asked about as could decide it.
        case majority
        /// One of them has; all are asked about at once.
        case one
    }

    private let rule: Rule
    let addresses: ArraySlice<IPAddress>
    private(set) var verdicts: [Verdict] = []

    init(_ addresses: ArraySlice<IPAddress>, _ rule: Rule) {
        self.addresses = addresses
        self.rule = rule
    }

    var needed: Int { rule == .majority ? addresses.count / 2 + 1 : 1 }
    private var satisfied: Int { verdicts.count(where: \.isSatisfied) }

    var isWon: Bool { satisfied >= needed }

    /// Won, or not to be won any more.
    var isDecided: Bool { isWon || satisfied + addresses.count - verdicts.count < needed }

    /// Whom to ask next; nobody when it is decided.
    var next: ArraySlice<IPAddress> {
        if isDecided { return [] }
        let rest = addresses.dropFirst(verdicts.count)
        return rule == .majority ? rest.prefix(needed - satisfied) : rest
    }

    mutating func count(_ more: some Collection<Verdict>) {
        // Most votes are decided by the first round.
        if verdicts.isEmpty { verdicts = Array(more) } else { verdicts += more }
    }

    /// The satisfied verdicts that leave through the interface most of them leave through.
    var mostCommonWay: [Verdict] {
        let interfaces = verdicts.lazy.filter(\.isSatisfied).map(\.interfaceIndex)
        var best: (index: UInt32, count: Int) = (0, 0)
        // There are a handful.
        for index in interfaces {
            let count = interfaces.count { $0 == index }
            if count > best.count { best = (index, count) }
        }
        return verdicts.filter { $0.isSatisfied && $0.interfaceIndex == best.index }
    }
}

extension Verdict {
    fileprivate var interfaceIndex: UInt32 { (try? outcome.get())?.link ?? 0 }
}
