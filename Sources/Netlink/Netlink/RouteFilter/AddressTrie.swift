package import LinuxSupport

/// Values by address, found by the prefixes that cover them: which targets is a route about?
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

    /// The value of an address, changed in place; `makeValue` is what it is before when there is none.
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

    /// Whether a prefix covers any of the addresses.
    package func isAnyCovered(by prefix: AddressPrefix) -> Bool {
        tree.top(coveredBy: prefix) != AddressTree.none
    }

    /// Visits what a prefix covers, in the order of the addresses.
    package func forEach<Failure: Error>(
        coveredBy prefix: AddressPrefix,
        _ body: (WireAddress, Value) throws(Failure) -> Void
    ) throws(Failure) {
        var rest = [tree.top(coveredBy: prefix)]
        while let index = rest.popLast(), index != AddressTree.none {
            let node = tree.nodes[Int(index)]
            if let value = values[Int(index)] {
                try body(node.address(of: prefix.family), value)
            } else {
                rest.append(node.high)
                rest.append(node.low)
            }
        }
    }

    /// At most `limit` prefixes that cover all addresses, but one for each family that there is, in order. The narrowest
    /// that there are, as a `RouteFilter` chooses them: addresses close to each other are joined first.
    package func covering(atMost limit: Int) -> [AddressPrefix] {
        var prefixes: [AddressPrefix] = []
        prefixes.reserveCapacity(count)
        for family in AddressFamily.allCases {
            let everything = AddressPrefix(WireAddress(family: family, bits: 0), length: 0)
            forEach(coveredBy: everything) { address, _ in prefixes.append(AddressPrefix(host: address)) }
        }
        return PrefixCover(sorted: prefixes).widened(toCount: limit).prefixes
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
