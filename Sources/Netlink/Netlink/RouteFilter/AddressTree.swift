package import LinuxSupport

/// The structure of an `AddressTrie`: a path-compressed binary tree (Patricia tree) of addresses for each family.
///
/// A leaf is an address. A branch is the longest common prefix of all leaves below it. Its two children differ in the
/// bit after the prefix. Therefore n addresses need 2n - 1 nodes, and a descent takes at most as many steps as an
/// address has bits. The nodes are in one array; free nodes form a list in the same array.
struct AddressTree: Sendable {
    struct Node: Sendable {
        /// The bits, aligned to the upper end as in `AddressPrefix.leadingBits`; zero beyond `length`.
        var bits: UInt128
        var length: UInt8
        /// The child whose next bit is 0; none for a leaf. In a free node, the index of the next free node.
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

    /// Returns the leaf of an address; nil if the address is not in the tree.
    func leaf(of address: WireAddress) -> Int? {
        let node = top(coveredBy: AddressPrefix(host: address))
        return node == Self.none ? nil : Int(node)
    }

    /// Returns the node below which are exactly the addresses that a prefix covers.
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

    /// Returns the leaf of an address, and creates it if necessary. Nodes do not move while they are in use.
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
            // The descent ends without a node only if the tree is empty.
            replace(address.family, above, with: leaf)
            return Int(leaf)
        }
        let common = (nodes[Int(index)].bits ^ bits).leadingZeroBitCount
        var branch = Node(bits: bits.prefix(common), length: UInt8(common))
        (branch.low, branch.high) = bits.bit(common) ? (index, leaf) : (leaf, index)
        replace(address.family, above, with: make(branch))
        return Int(leaf)
    }

    /// Removes an address and returns the index of its leaf.
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

    /// Replaces a child of `above`, or the root.
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
            // The default growth of arrays could leave half of the capacity unused, which is significant per target.
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
    /// Returns a bit. Bit 0 is the most significant.
    fileprivate func bit(_ index: Int) -> Bool { (self << UInt128(index)) >> 127 == 1 }

    fileprivate func prefix(_ length: Int) -> UInt128 { (self >> UInt128(128 - length)) << UInt128(128 - length) }
}

/// A map from addresses to values that can be searched by prefix, for example for the targets that a route affects.
///
/// Lookup, insertion and removal take at most as many steps as an address has bits. A visit of the addresses that a
/// prefix covers takes the same number of steps and visits no other addresses. IPv4 addresses are not mapped to IPv6. A
/// value type, not safe for concurrent use.
package struct AddressTrie<Value> {
    private var tree = AddressTree()
    /// The values, at the indices of the leaves.
    private var values: ContiguousArray<Value?> = []

    package init() {}

    /// The number of addresses.
    package var count: Int { tree.count }

    package var isEmpty: Bool { count == 0 }

    /// The value of an address. Setting nil removes the address.
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

    /// The value of an address, modified in place. `makeValue` creates the value of a new address.
    package subscript(address: WireAddress, default makeValue: @autoclosure () -> Value) -> Value {
        get { self[address] ?? makeValue() }
        _modify {
            let place = place(of: address)
            var value = values[place].take() ?? makeValue()
            defer { values[place] = value }
            yield &value
        }
    }

    /// Sets the value of an address and returns the previous value.
    @discardableResult
    package mutating func updateValue(_ value: Value, for address: WireAddress) -> Value? {
        let place = place(of: address)
        defer { values[place] = value }
        return values[place].take()
    }

    /// Removes an address and returns its value.
    @discardableResult
    package mutating func removeValue(for address: WireAddress) -> Value? {
        tree.remove(address).flatMap { values[$0].take() }
    }

    /// Calls `body` for each address that a prefix covers, in ascending order of the addresses.
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

    /// Returns the index of the value of an address, and creates the leaf if necessary.
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

/// Sorted prefixes of both families, none of which covers another.
struct PrefixCover: Hashable, Sendable {
    /// The prefixes, IPv4 first.
    private(set) var prefixes: [AddressPrefix]

    init(_ prefixes: some Sequence<AddressPrefix>) {
        self.init(sorted: prefixes.sorted())
    }

    /// Creates a cover from sorted prefixes.
    ///
    /// - Parameter sorted: Sorted prefixes, which may cover each other.
    init(sorted: some Sequence<AddressPrefix>) {
        prefixes = []
        for prefix in sorted where prefixes.last?.covers(prefix) != true { prefixes.append(prefix) }
    }

    /// Returns the prefixes of one family.
    func prefixes(of family: AddressFamily) -> ArraySlice<AddressPrefix> {
        let boundary = prefixes.firstIndex { $0.family == .ipv6 } ?? prefixes.endIndex
        return family == .ipv4 ? prefixes[..<boundary] : prefixes[boundary...]
    }

    /// The cover with IPv6 prefixes limited to /64, the longest prefix that routes to other networks usually have (RFC
    /// 4291, section 2.5.4).
    var ofSubnets: PrefixCover {
        PrefixCover(sorted: prefixes.map { AddressPrefix($0.address, length: min($0.length, 64)) })
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
