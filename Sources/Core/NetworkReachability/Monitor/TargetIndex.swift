import LinuxPrimitives
import Netlink
import RouteFilter

/// Which targets the answer of a route lookup may matter to.
struct TargetIndex {
    private var members = AddressTrie<RecordBundle>()
    /// The addresses of targets that are no address themselves.
    private var addresses: [ObjectIdentifier: [WireAddress]] = [:]
    /// The far ends of tunnels that targets are reached through; a route to one of them may matter to any target.
    private var underlay: Set<WireAddress> = []

    /// Puts a target under these addresses instead of those it stood under.
    ///
    /// - Returns: Whether anything changed.
    @discardableResult
    mutating func set(_ new: [WireAddress], of record: TargetRecord) -> Bool {
        let old = addresses(of: record)
        guard old != new else { return false }
        for address in Set(old) {
            members[address] = RecordBundle((members[address]?.all ?? []).filter { $0 !== record })
        }
        for address in Set(new) { members[address] = RecordBundle((members[address]?.all ?? []) + [record]) }
        if record.target.fixedAddress == nil { addresses[ObjectIdentifier(record)] = new.isEmpty ? nil : new }
        return true
    }

    private func addresses(of record: TargetRecord) -> [WireAddress] {
        guard let address = record.target.fixedAddress else { return addresses[ObjectIdentifier(record)] ?? [] }
        let isThere = members[address]?.all.contains { $0 === record } ?? false
        return isThere ? [address] : []
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
            members.forEach(coveredBy: prefix) { _, members in
                for record in members.all { found.insert(record) }
            }
        }
        return found.all
    }

    /// What the kernel is to leave out.
    var filter: RouteFilter {
        var prefixes = underlay.map(AddressPrefix.init(host:))
        prefixes.reserveCapacity(prefixes.count + members.count)
        for family in AddressFamily.allCases {
            let everything = AddressPrefix(WireAddress(family: family, bits: 0), length: 0)
            members.forEach(coveredBy: everything) { address, _ in prefixes.append(AddressPrefix(host: address)) }
        }
        return RouteFilter(watching: prefixes)
    }
}

extension Target {
    /// The one address of a target that is an address.
    fileprivate var fixedAddress: WireAddress? {
        if case .address(let address) = destination { address.wire } else { nil }
    }
}
