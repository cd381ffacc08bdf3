import LinuxSupport

/// One distinct target of a monitor, shared by all managers and subscriptions that mean the same; forgotten when the last of them
/// lets go of it. What changes of it is in the monitor's state, under the monitor's lock.
package final class TargetRecord: Sendable {
    typealias ID = UInt32

    let id: ID
    package let target: Target
    /// Whoever holds a target holds its monitor.
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
