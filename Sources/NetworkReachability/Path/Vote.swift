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
    let addresses: [IPAddress]
    private(set) var verdicts: [Verdict] = []

    init(_ addresses: [IPAddress], _ rule: Rule) {
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
        let rest = addresses[verdicts.count...]
        return rule == .majority ? rest.prefix(needed - satisfied) : rest
    }

    mutating func count(_ more: some Collection<Verdict>) {
        verdicts += more
    }

    /// The satisfied verdicts that leave through the interface most of them leave through.
    var mostCommonWay: [Verdict] {
        let ways = verdicts.filter(\.isSatisfied)
        let counts = ways.reduce(into: [UInt32: Int]()) { $0[$1.interfaceIndex, default: 0] += 1 }
        guard let most = counts.values.max() else { return [] }
        guard let index = ways.first(where: { counts[$0.interfaceIndex] == most })?.interfaceIndex else { return [] }
        return ways.filter { $0.interfaceIndex == index }
    }
}

extension Verdict {
    fileprivate var interfaceIndex: UInt32 { (try? outcome.get())?.link ?? 0 }
}
