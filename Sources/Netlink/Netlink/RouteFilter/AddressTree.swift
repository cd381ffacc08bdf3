import LinuxSupport

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
