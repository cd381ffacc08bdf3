import LinuxSupport
import Netlink

/// Which targets the answer of a route lookup may matter to.
struct TargetIndex {
    private var members = AddressTrie<[TargetRecord.ID]>()
    /// The far ends of tunnels that targets are reached through; a route to one of them may matter to any target.
    private var tunnelEnds: Set<WireAddress> = []

    /// Puts a target under these addresses instead of those it stood under.
    mutating func move(_ id: TargetRecord.ID, from old: [WireAddress], to new: [WireAddress]) {
        for address in Set(old) {
            let rest = (members[address] ?? []).filter { $0 != id }
            members[address] = rest.isEmpty ? nil : rest
        }
        for address in Set(new) { members[address, default: []].append(id) }
    }

    /// - Returns: Whether anything changed.
    mutating func setTunnelEnds(_ addresses: Set<WireAddress>) -> Bool {
        defer { tunnelEnds = addresses }
        return tunnelEnds != addresses
    }

    /// Those that changes of routes to these destinations may matter to, each once; nil for all there are.
    func targets(concernedBy prefixes: ChangedPrefixes) -> [TargetRecord.ID]? {
        if prefixes.isEverything || tunnelEnds.contains(where: prefixes.mayConcern) { return nil }
        var found: [TargetRecord.ID] = []
        var seen: Set<TargetRecord.ID> = []
        for prefix in prefixes.list {
            members.forEach(coveredBy: prefix) { _, ids in
                for id in ids where seen.insert(id).inserted { found.append(id) }
            }
        }
        return found
    }

    /// What the kernel is to leave out.
    var filter: RouteFilter {
        var prefixes = tunnelEnds.map(AddressPrefix.init(host:))
        prefixes.reserveCapacity(prefixes.count + members.count)
        for family in AddressFamily.allCases {
            let everything = AddressPrefix(WireAddress(family: family, bits: 0), length: 0)
            members.forEach(coveredBy: everything) { address, _ in prefixes.append(AddressPrefix(host: address)) }
        }
        return RouteFilter(watching: prefixes)
    }
}
