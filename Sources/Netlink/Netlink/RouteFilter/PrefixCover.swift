import LinuxSupport

/// Prefixes of both families, none of which covers another, in order.
struct PrefixCover: Hashable, Sendable {
    /// IPv4 first.
    private(set) var prefixes: [AddressPrefix]

    init(_ prefixes: some Sequence<AddressPrefix>) {
        self.init(sorted: prefixes.sorted())
    }

    /// - Parameter sorted: in order; some may cover others.
    init(sorted: some Sequence<AddressPrefix>) {
        prefixes = []
        for prefix in sorted where prefixes.last?.covers(prefix) != true { prefixes.append(prefix) }
    }

    /// Those of one family.
    func prefixes(of family: AddressFamily) -> ArraySlice<AddressPrefix> {
        let boundary = prefixes.firstIndex { $0.family == .ipv6 } ?? prefixes.endIndex
        return family == .ipv4 ? prefixes[..<boundary] : prefixes[boundary...]
    }

    /// The same with IPv6 prefixes cut to /64, the narrowest that routes of others commonly have (RFC 4291, section 2.5.4).
    var ofSubnets: PrefixCover {
        PrefixCover(sorted: prefixes.map { AddressPrefix($0.address, length: min($0.length, 64)) })
    }

    /// At most `limit` prefixes that cover all of these, but one for each family that there is.
    ///
    /// The narrowest are joined first, so the widest of them stays as narrow as it can. An IPv6 prefix counts as half as
    /// long as it is, and beyond /64 as an IPv4 address does: that is how widely the two are given out.
    func widened(toCount limit: Int) -> PrefixCover {
        let surplus = prefixes.count - max(limit, 0)
        guard surplus > 0 else { return self }
        // Neighbours meet at a branch of the tree of all prefixes, each at another; to join them is to end the tree there.
        var branches: [(rank: Int, index: Int)] = []
        for (index, (one, next)) in zip(prefixes, prefixes.dropFirst()).enumerated() where one.family == next.family {
            branches.append((Self.rank(one.commonLength(with: next), one.family), index))
        }
        // A branch below another is longer and so comes before it.
        branches.sort { $0.rank > $1.rank }
        var joins = [Bool](repeating: false, count: prefixes.count)
        for branch in branches.prefix(surplus) { joins[branch.index] = true }
        var result: [AddressPrefix] = []
        var isJoined = false
        for (prefix, joinsNext) in zip(prefixes, joins) {
            if isJoined, let last = result.popLast() {
                result.append(last.joined(with: prefix))
            } else {
                result.append(prefix)
            }
            isJoined = joinsNext
        }
        var cover = self
        cover.prefixes = result
        return cover
    }

    /// Higher for what is narrower.
    private static func rank(_ length: Int, _ family: AddressFamily) -> Int {
        (family == .ipv4 ? length : min(length / 2, 32)) << 8 | length
    }
}
