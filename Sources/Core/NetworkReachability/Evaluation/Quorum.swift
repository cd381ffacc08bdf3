/// So many of a set of addresses that they decide for all, found by judging no more of them than needed. Pure.
package struct Quorum {
    /// How many are needed.
    package enum Rule: Hashable, Sendable {
        /// More than half.
        case majority
        /// One; all are judged at once.
        case one
    }

    package let addresses: [IPAddress]
    private let rule: Rule
    /// Of the first addresses, in their order.
    package private(set) var verdicts: [Verdict] = []
    private var satisfied = 0

    package init(_ addresses: [IPAddress], _ rule: Rule) {
        self.addresses = addresses
        self.rule = rule
    }

    package var needed: Int { rule == .majority ? addresses.count / 2 + 1 : 1 }

    package var isReached: Bool { satisfied >= needed }

    /// Reached, or not to be reached any more.
    package var isDecided: Bool { isReached || satisfied + addresses.count - verdicts.count < needed }

    /// Which to judge next; none when it is decided.
    package var next: ArraySlice<IPAddress> {
        if isDecided { return [] }
        let rest = addresses.dropFirst(verdicts.count)
        return rule == .majority ? rest.prefix(needed - satisfied) : rest
    }

    package mutating func count(_ more: [Verdict]) {
        satisfied += more.count(where: \.isSatisfied)
        verdicts += more
    }

    /// The first of the satisfied verdicts that leave through the interface most of them leave through.
    var mostCommon: Verdict? {
        let links = verdicts.compactMap(\.link)
        let counts = Dictionary(grouping: links) { $0 }.mapValues(\.count)
        guard let most = counts.values.max() else { return nil }
        return verdicts.first { verdict in verdict.link.map { counts[$0] == most } ?? false }
    }

    /// The first of the verdicts with the obstacle that explains most.
    var worst: Verdict? { Verdict.worst(verdicts) }

    /// When the first of the verdicts ends.
    var lifetime: Duration? { verdicts.compactMap(\.lifetime).min() }
}

extension Verdict {
    /// The link of a satisfied verdict.
    fileprivate var link: UInt32? {
        if case .success(let egress) = outcome { egress.link } else { nil }
    }

    /// The first of those whose obstacle explains most; nil if none has an obstacle.
    static func worst(_ verdicts: [Verdict]) -> Verdict? {
        var worst: (verdict: Verdict, cause: Cause)?
        for verdict in verdicts {
            guard case .failure(let obstacle) = verdict.outcome else { continue }
            if worst.map({ $0.cause < obstacle.cause }) ?? true { worst = (verdict, obstacle.cause) }
        }
        return worst?.verdict
    }
}
