import LinuxSupport
import Netlink

/// One distinct target of a monitor, shared by all managers and subscriptions of equal targets. It is removed when its
/// last owner releases it. Its mutable state is part of the monitor's state, protected by the monitor's lock.
package final class TargetRecord: Sendable {
    typealias ID = UInt32

    let id: ID
    package let target: Target
    /// The monitor, which is retained by its targets.
    package let monitor: PathMonitor
    package let name: NameRecord?

    init(_ id: ID, _ target: Target, of monitor: PathMonitor, name: NameRecord?) {
        (self.id, self.target, self.monitor, self.name) = (id, target, monitor, name)
    }

    deinit {
        name?.unwatch()
        monitor.forget(id, target)
    }

    /// The current query for the target.
    package var subject: EvaluationSubject {
        var subject = EvaluationSubject(.any([]), target.constraints)
        switch target.destination {
        case .general(let addresses): subject.kind = .majority(addresses)
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

    /// The addresses whose routes affect the target.
    var addresses: [WireAddress] {
        switch target.destination {
        case .address(let address): return [address.wire]
        case .general(let addresses): return addresses.map(\.wire)
        case .name:
            if case .addresses(let addresses)? = name?.answer { return addresses.map(\.wire) }
            return name?.missingServers?.map(\.wire) ?? []
        }
    }
}

/// An index of the targets that a change of a route may affect.
struct TargetIndex {
    private var members: [WireAddress: [TargetRecord.ID]] = [:]
    /// The addresses of `members` in ascending order; nil after a change. They are sorted when they are needed, because
    /// many targets may change at once.
    private var sorted: [AddressPrefix]?
    /// The far ends of tunnels through which targets are reached. A route to one of them may affect any target.
    private var tunnelEnds: Set<WireAddress> = []

    /// Replaces the addresses of a target in the index.
    mutating func move(_ id: TargetRecord.ID, from old: [WireAddress], to new: [WireAddress]) {
        for address in Set(old) {
            members[address]?.removeAll { $0 == id }
            if members[address]?.isEmpty == true { members[address] = nil }
        }
        for address in Set(new) { members[address, default: []].append(id) }
        sorted = nil
    }

    /// Sets the far ends of tunnels.
    ///
    /// - Returns: True if the set has changed.
    mutating func setTunnelEnds(_ addresses: Set<WireAddress>) -> Bool {
        defer { tunnelEnds = addresses }
        return tunnelEnds != addresses
    }

    /// Returns the targets that changes of routes to these destinations may affect, without duplicates; nil for all
    /// targets.
    mutating func targets(concernedBy prefixes: ChangedPrefixes) -> [TargetRecord.ID]? {
        if prefixes.isEverything || tunnelEnds.contains(where: prefixes.mayConcern) { return nil }
        var found: [TargetRecord.ID] = []
        var seen: Set<TargetRecord.ID> = []
        let addresses = sortedAddresses()
        for prefix in prefixes.list {
            for host in addresses[firstIndex(in: addresses, notBefore: prefix)...].prefix(while: prefix.covers) {
                for id in members[host.address] ?? [] where seen.insert(id).inserted { found.append(id) }
            }
        }
        return found
    }

    /// Returns the position of the first address that does not precede a prefix (binary search).
    private func firstIndex(in addresses: [AddressPrefix], notBefore prefix: AddressPrefix) -> Int {
        var (low, high) = (0, addresses.count)
        while low < high {
            let middle = (low + high) / 2
            if addresses[middle] < prefix { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func sortedAddresses() -> [AddressPrefix] {
        let addresses = sorted ?? members.keys.map(AddressPrefix.init(host:)).sorted()
        sorted = addresses
        return addresses
    }

    /// Returns the filter for the indexed addresses.
    mutating func makeFilter() -> RouteFilter {
        RouteFilter(watching: tunnelEnds.map(AddressPrefix.init(host:)) + sortedAddresses())
    }
}
