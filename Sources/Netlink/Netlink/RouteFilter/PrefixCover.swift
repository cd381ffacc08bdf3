import LinuxSupport

/// Sorted prefixes of both families, none of which covers another.
struct PrefixCover: Hashable, Sendable {
    /// The prefixes, IPv4 first.
    private(set) var prefixes: [AddressPrefix]

    /// Creates a cover from prefixes that may cover each other.
    init(_ prefixes: some Sequence<AddressPrefix>) {
        var cover: [AddressPrefix] = []
        for prefix in prefixes.sorted() where cover.last?.covers(prefix) != true { cover.append(prefix) }
        self.prefixes = cover
    }

    /// Returns the prefixes of one family.
    func prefixes(of family: AddressFamily) -> ArraySlice<AddressPrefix> {
        let boundary = prefixes.firstIndex { $0.family == .ipv6 } ?? prefixes.endIndex
        return family == .ipv4 ? prefixes[..<boundary] : prefixes[boundary...]
    }

    /// The cover with IPv6 prefixes limited to /64, the longest prefix that routes to other networks usually have (RFC
    /// 4291, section 2.5.4).
    var ofSubnets: PrefixCover {
        PrefixCover(prefixes.map { AddressPrefix($0.address, length: min($0.length, 64)) })
    }

    /// Returns a cover with at most `limit` prefixes, but at least one per family.
    ///
    /// The longest prefixes are joined first, so that the shortest remains as long as possible. To compare the
    /// families, an IPv6 prefix counts with half its length, and with 32 beyond /64, according to the usual sizes of
    /// allocations.
    func widened(toCount limit: Int) -> PrefixCover {
        let surplus = prefixes.count - max(limit, 0)
        guard surplus > 0 else { return self }
        // Two neighbouring prefixes meet at a branch of the tree of all prefixes. Joining them ends the tree at that
        // branch.
        var branches: [(rank: Int, index: Int)] = []
        for (index, (one, next)) in zip(prefixes, prefixes.dropFirst()).enumerated() where one.family == next.family {
            branches.append((Self.rank(one.commonLength(with: next), one.family), index))
        }
        // A branch below another one has a longer prefix, so it comes first.
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

    /// Returns the rank of a prefix. Longer prefixes have a higher rank.
    private static func rank(_ length: Int, _ family: AddressFamily) -> Int {
        (family == .ipv4 ? length : min(length / 2, 32)) << 8 | length
    }
}
