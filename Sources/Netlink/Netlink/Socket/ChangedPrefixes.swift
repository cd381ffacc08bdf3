package import LinuxSupport

/// The destinations of routes that were heard of: none, a few, or everything when they are many or not to be made out.
package struct ChangedPrefixes: Hashable, Sendable {
    /// How many are kept apart.
    package static let limit = 64

    package static let none = ChangedPrefixes()
    /// Any destination, of either family.
    package static let everything = ChangedPrefixes(isEverything: true)

    /// In the order in which they were heard of first, each once; empty when it may be everything.
    package private(set) var list: [AddressPrefix] = []
    package let isEverything: Bool

    private init(isEverything: Bool = false) {
        self.isEverything = isEverything
    }

    package var isEmpty: Bool { list.isEmpty && !isEverything }

    /// Whether a route to any of these may carry packets to `address`.
    package func mayConcern(_ address: WireAddress) -> Bool {
        isEverything || list.contains { $0.contains(address) }
    }

    package mutating func insert(_ prefix: AddressPrefix) {
        if isEverything || list.contains(prefix) { return }
        if list.count == Self.limit {
            self = .everything
        } else {
            list.append(prefix)
        }
    }

    package mutating func formUnion(_ other: ChangedPrefixes) {
        if other.isEverything { self = .everything }
        for prefix in other.list { insert(prefix) }
    }
}

extension ChangedPrefixes: ExpressibleByArrayLiteral {
    package init(arrayLiteral prefixes: AddressPrefix...) {
        self.init()
        for prefix in prefixes { insert(prefix) }
    }
}
