import Netlink

/// The ways of one look, by what the paths of many targets have in common: each is judged once.
struct KnownWays {
    private var judged: [(path: SharedValue<NetworkPath.Common>, way: KnownWay?)] = []

    /// The way of a path that still is what it was, nil if it is not or leads nowhere.
    mutating func way(
        of path: SharedValue<NetworkPath.Common>,
        judging evaluate: () throws(NetlinkError) -> NetworkPath?
    ) throws(NetlinkError) -> KnownWay? {
        if let known = judged.last(where: { $0.path === path }) { return known.way }
        let isSame = try evaluate().map { $0.shared === path || $0.shared.value == path.value } ?? false
        let way = isSame ? KnownWay(path.value) : nil
        judged.append((path, way))
        return way
    }
}
