package import LinuxSupport

/// The shape of an `AddressTrie`: a path-compressed binary tree (Patricia) of addresses for each family.
///
/// A leaf is an address; a branch is the prefix that all below it share, and has two children that differ in the bit after
/// it. So n addresses take 2n - 1 nodes, and a descent has at most as many as an address has bits. Nodes lie in one array,
/// those that are free in a list within it.
struct AddressTree: Sendable {
    struct Node: Sendable {
        /// At the upper end, as `AddressPrefix.leadingBits`; zero beyond `length`.
        var bits: UInt128
        var length: UInt8
        /// The child whose next bit is 0; none for a leaf. Of a free node the next free one.
        var low = AddressTree.none
        var high = AddressTree.none

        var isLeaf: Bool { high == AddressTree.none }
    }

    static let none = Int32(-1)

    private(set) var nodes: ContiguousArray<Node> = []
    private(set) var count = 0
    private var free = none
    private var ipv4 = none
    private var ipv6 = none

    func root(of family: AddressFamily) -> Int32 { family == .ipv4 ? ipv4 : ipv6 }

    /// The leaf of an address.
    func leaf(of address: WireAddress) -> Int? {
        let node = top(coveredBy: AddressPrefix(host: address))
        return node == Self.none ? nil : Int(node)
    }

    /// The node below which everything a prefix covers is, and nothing else.
    func top(coveredBy prefix: AddressPrefix) -> Int32 {
        let bits = prefix.leadingBits
        var index = root(of: prefix.family)
        while index != Self.none {
            let node = nodes[Int(index)]
            let common = (node.bits ^ bits).leadingZeroBitCount
            if common >= prefix.length, Int(node.length) >= prefix.length { return index }
            guard common >= Int(node.length) else { return Self.none }
            index = bits.bit(Int(node.length)) ? node.high : node.low
        }
        return Self.none
    }

    /// Finds or makes the leaf of an address. Nodes do not move while they are in use.
    mutating func insert(_ address: WireAddress) -> Int {
        let bits = address.leadingBits
        let length = address.family.bitCount
        var above: (node: Int32, isHigh: Bool)?
        var index = root(of: address.family)
        while index != Self.none {
            let node = nodes[Int(index)]
            let common = min((node.bits ^ bits).leadingZeroBitCount, Int(node.length))
            if common == length { return Int(index) }
            if common < Int(node.length) { break }
            let isHigh = bits.bit(common)
            above = (index, isHigh)
            index = isHigh ? node.high : node.low
        }
        let leaf = make(Node(bits: bits, length: UInt8(length)))
        count += 1
        guard index != Self.none else {
            // Only an empty tree has nothing where the descent ends.
            replace(address.family, above, with: leaf)
            return Int(leaf)
        }
        let common = (nodes[Int(index)].bits ^ bits).leadingZeroBitCount
        var branch = Node(bits: bits.prefix(common), length: UInt8(common))
        (branch.low, branch.high) = bits.bit(common) ? (index, leaf) : (leaf, index)
        replace(address.family, above, with: make(branch))
        return Int(leaf)
    }

    /// Takes an address out and says which leaf it had.
    mutating func remove(_ address: WireAddress) -> Int? {
        let bits = address.leadingBits
        var twoAbove: (node: Int32, isHigh: Bool)?
        var above: (node: Int32, isHigh: Bool)?
        var index = root(of: address.family)
        while index != Self.none, !nodes[Int(index)].isLeaf {
            let node = nodes[Int(index)]
            let isHigh = bits.bit(Int(node.length))
            twoAbove = above
            above = (index, isHigh)
            index = isHigh ? node.high : node.low
        }
        guard index != Self.none, nodes[Int(index)].bits == bits else { return nil }
        if let above {
            let branch = nodes[Int(above.node)]
            replace(address.family, twoAbove, with: above.isHigh ? branch.low : branch.high)
            release(above.node)
        } else {
            replace(address.family, nil, with: Self.none)
        }
        release(index)
        count -= 1
        return Int(index)
    }

    /// Puts a node below `above`, or at the top.
    private mutating func replace(_ family: AddressFamily, _ above: (node: Int32, isHigh: Bool)?, with node: Int32) {
        switch (above, family) {
        case (let above?, _) where above.isHigh: nodes[Int(above.node)].high = node
        case (let above?, _): nodes[Int(above.node)].low = node
        case (nil, .ipv4): ipv4 = node
        case (nil, .ipv6): ipv6 = node
        }
    }

    private mutating func make(_ node: Node) -> Int32 {
        guard free != Self.none else {
            // Half of it free, as arrays have it, would be much of what a target costs.
            if nodes.count == nodes.capacity { nodes.reserveCapacity(nodes.count + nodes.count / 4 + 16) }
            nodes.append(node)
            return Int32(nodes.count - 1)
        }
        let index = free
        free = nodes[Int(index)].low
        nodes[Int(index)] = node
        return index
    }

    private mutating func release(_ index: Int32) {
        nodes[Int(index)] = Node(bits: 0, length: 0, low: free)
        free = index
    }
}

extension UInt128 {
    /// Bit 0 is the most significant.
    fileprivate func bit(_ index: Int) -> Bool { (self << UInt128(index)) >> 127 == 1 }

    fileprivate func prefix(_ length: Int) -> UInt128 { (self >> UInt128(128 - length)) << UInt128(128 - length) }
}

/// Values by address, found by the prefixes that cover them, for example the targets that a route concerns.
///
/// To find, put and remove takes as many steps as an address has bits, at most; to visit what a prefix covers takes that
/// and visits nothing else. IPv4 addresses stand as such, not mapped to IPv6. A value like any other: not for several
/// threads at once.
package struct AddressTrie<Value> {
    private var tree = AddressTree()
    /// At the places of the leaves.
    private var values: ContiguousArray<Value?> = []

    package init() {}

    /// How many addresses there are.
    package var count: Int { tree.count }

    package var isEmpty: Bool { count == 0 }

    /// The value of an address; nil takes the address out.
    package subscript(address: WireAddress) -> Value? {
        get { tree.leaf(of: address).flatMap { values[$0] } }
        set {
            if let newValue {
                updateValue(newValue, for: address)
            } else {
                removeValue(for: address)
            }
        }
    }

    /// The value of an address, changed in place. `makeValue` is the value of an address that has none.
    package subscript(address: WireAddress, default makeValue: @autoclosure () -> Value) -> Value {
        get { self[address] ?? makeValue() }
        _modify {
            let place = place(of: address)
            var value = values[place].take() ?? makeValue()
            defer { values[place] = value }
            yield &value
        }
    }

    /// Sets the value of an address and returns what it was.
    @discardableResult
    package mutating func updateValue(_ value: Value, for address: WireAddress) -> Value? {
        let place = place(of: address)
        defer { values[place] = value }
        return values[place].take()
    }

    /// Takes an address out and returns its value.
    @discardableResult
    package mutating func removeValue(for address: WireAddress) -> Value? {
        tree.remove(address).flatMap { values[$0].take() }
    }

    /// Visits what a prefix covers, in the order of the addresses.
    package func forEach(coveredBy prefix: AddressPrefix, _ body: (WireAddress, Value) -> Void) {
        var rest = [tree.top(coveredBy: prefix)]
        while let index = rest.popLast(), index != AddressTree.none {
            let node = tree.nodes[Int(index)]
            if let value = values[Int(index)] {
                body(node.address(of: prefix.family), value)
            } else {
                rest.append(node.high)
                rest.append(node.low)
            }
        }
    }

    /// Finds or makes room for the value of an address.
    private mutating func place(of address: WireAddress) -> Int {
        let place = tree.insert(address)
        while values.count < tree.nodes.count { values.append(nil) }
        return place
    }
}

extension AddressTrie: Sendable where Value: Sendable {}

extension AddressTree.Node {
    fileprivate func address(of family: AddressFamily) -> WireAddress {
        WireAddress(family: family, bits: bits >> UInt128(128 - family.bitCount))
    }
}

/// Sorted prefixes of both families that do not cover each other.
struct PrefixCover: Hashable, Sendable {
    /// IPv4 first.
    private(set) var prefixes: [AddressPrefix]

    init(_ prefixes: some Sequence<AddressPrefix>) {
        self.init(sorted: prefixes.sorted())
    }

    /// - Parameter sorted: Sorted prefixes, which may cover each other.
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
