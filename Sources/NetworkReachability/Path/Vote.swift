import Netlink

/// A vote among addresses of one family, over as soon as its end is certain.
struct Vote {
    private let addresses: [IPAddress]
    private(set) var verdicts: [Verdict] = []

    init(_ addresses: [IPAddress]) {
        self.addresses = addresses
    }

    private var needed: Int { addresses.count / 2 + 1 }
    private var satisfied: Int { verdicts.count(where: \.isSatisfied) }

    /// More than half have a path.
    var isWon: Bool { satisfied >= needed }

    /// Won, or not to be won any more.
    var isDecided: Bool { isWon || satisfied + addresses.count - verdicts.count < needed }

    /// As many as could decide it.
    var next: [IPAddress] { Array(addresses[verdicts.count...].prefix(max(1, needed - satisfied))) }

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
