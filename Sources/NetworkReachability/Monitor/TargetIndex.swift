import Netlink

/// Which targets the answer of a route lookup may matter to.
struct TargetIndex {
    private var records = AddressTrie<[TargetRecord]>()
    private var addresses: [ObjectIdentifier: [WireAddress]] = [:]
    /// The far ends of tunnels that targets are reached through; a route to one of them may matter to any target.
    private var underlay: Set<WireAddress> = []

    /// Puts a target under these addresses instead of those it stood under.
    ///
    /// - Returns: Whether anything changed.
    @discardableResult
    mutating func set(_ new: [WireAddress], of record: TargetRecord) -> Bool {
        let id = ObjectIdentifier(record)
        let old = addresses[id] ?? []
        guard old != new else { return false }
        for address in Set(old) {
            records[address]?.removeAll { $0 === record }
            if records[address]?.isEmpty ?? false { records.removeValue(for: address) }
        }
        for address in Set(new) { records[address, default: []].append(record) }
        addresses[id] = new.isEmpty ? nil : new
        return true
    }

    /// - Returns: Whether anything changed.
    mutating func setUnderlay(_ addresses: Set<WireAddress>) -> Bool {
        defer { underlay = addresses }
        return underlay != addresses
    }

    /// Those that changes of routes to these destinations may matter to; nil for all there are.
    func records(concernedBy prefixes: ChangedPrefixes) -> [TargetRecord]? {
        if prefixes.isEverything || underlay.contains(where: prefixes.mayConcern) { return nil }
        var found = RecordList()
        for prefix in prefixes.list {
            records.forEach(coveredBy: prefix) { _, records in
                for record in records { found.insert(record) }
            }
        }
        return found.all
    }

    /// What the kernel is to leave out.
    var filter: RouteFilter {
        var prefixes = underlay.map(AddressPrefix.init(host:))
        for family in AddressFamily.allCases {
            let everything = AddressPrefix(WireAddress(family: family, bits: 0), length: 0)
            records.forEach(coveredBy: everything) { address, _ in prefixes.append(AddressPrefix(host: address)) }
        }
        return RouteFilter(watching: prefixes)
    }
}
