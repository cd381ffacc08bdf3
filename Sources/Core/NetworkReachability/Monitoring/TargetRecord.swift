import LinuxSupport
import Netlink

/// One distinct target of a monitor, shared by all managers and subscriptions that mean the same; forgotten when the last of them
/// lets go of it. What changes of it is in the monitor's state, under the monitor's lock.
package final class TargetRecord: Sendable {
    typealias ID = UInt32

    let id: ID
    package let target: Target
    /// A target holds its monitor.
    package let monitor: PathMonitor
    package let name: NameRecord?

    init(_ id: ID, _ target: Target, of monitor: PathMonitor, name: NameRecord?) {
        (self.id, self.target, self.monitor, self.name) = (id, target, monitor, name)
    }

    deinit {
        name?.unwatch()
        monitor.forget(id, target)
    }

    /// What to ask about the target now.
    package var subject: EvaluationSubject {
        var subject = EvaluationSubject(.any([]), target.constraints)
        switch target.destination {
        case .atLarge(let addresses): subject.kind = .majority(addresses)
        case .address(let address): subject.kind = .any([address])
        case .name:
            let answer = name?.answer ?? .failed
            if case .addresses(let all) = answer, case let counted = target.constraints.counted(all), !counted.isEmpty {
                subject.kind = .any(counted)
            } else {
                let isPending = answer == .pending
                subject.kind = .unnamed(isPending ? .resolving : .nameNotResolved, servers: name?.missingServers)
            }
        }
        return subject
    }

    /// The addresses routes to which matter.
    var addresses: [WireAddress] {
        switch target.destination {
        case .address(let address): return [address.wire]
        case .atLarge(let addresses): return addresses.map(\.wire)
        case .name:
            if case .addresses(let addresses)? = name?.answer { return addresses.map(\.wire) }
            return name?.missingServers?.map(\.wire) ?? []
        }
    }
}

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

    /// The filter for these targets.
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
