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
    /// A slice, for most votes are decided by the first round, and hold a part of its verdicts.
    private(set) var verdicts: ArraySlice<Verdict> = []
    private var satisfied = 0

    init(_ addresses: ArraySlice<IPAddress>, _ rule: Rule) {
        self.addresses = addresses
        self.rule = rule
    }

    var needed: Int { rule == .majority ? addresses.count / 2 + 1 : 1 }

    var isWon: Bool { satisfied >= needed }

    /// Won, or not to be won any more.
    var isDecided: Bool { isWon || satisfied + addresses.count - verdicts.count < needed }

    /// Whom to ask next; nobody when it is decided.
    var next: ArraySlice<IPAddress> {
        if isDecided { return [] }
        let rest = addresses.dropFirst(verdicts.count)
        return rule == .majority ? rest.prefix(needed - satisfied) : rest
    }

    mutating func count(_ more: ArraySlice<Verdict>) {
        for index in more.indices where more[index].isSatisfied { satisfied += 1 }
        if verdicts.isEmpty { verdicts = more } else { verdicts += more }
    }

    /// The first of the satisfied verdicts that leave through the interface most of them leave through.
    var mostCommon: Verdict? {
        var best: (index: Int, count: Int)?
        // There are a handful.
        for index in verdicts.indices {
            guard let link = verdicts[index].link else { continue }
            let count = verdicts.count { $0.link == link }
            if count > best?.count ?? 0 { best = (index, count) }
        }
        return best.map { verdicts[$0.index] }
    }

    /// The first of the verdicts with the obstacle that explains most.
    var worst: Verdict? {
        verdicts.reduce(nil) { Verdict.worse($0, $1) }
    }

    /// When the first of the verdicts ends.
    var lifetime: Duration? {
        verdicts.reduce(nil) { known, verdict in verdict.lifetime.map { min($0, known ?? $0) } ?? known }
    }
}

extension Verdict {
    /// The link of a satisfied verdict.
    fileprivate var link: UInt32? {
        if case .success(let way) = outcome { way.link } else { nil }
    }

    /// That of two whose obstacle explains more, the first if both explain as much; nil if none has an obstacle.
    static func worse(_ one: Verdict?, _ other: Verdict?) -> Verdict? {
        guard case .failure(let obstacle)? = other?.outcome else { return one }
        guard case .failure(let known)? = one?.outcome else { return other }
        return known.cause >= obstacle.cause ? one : other
    }
}
