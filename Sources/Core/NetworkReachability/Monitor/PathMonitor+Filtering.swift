import Dispatch
import LinuxPrimitives
import Logging
import Netlink

/// Hearing only of routes that matter. All of it runs on the queue.
extension PathMonitor {
    /// Says which addresses a target stands for now.
    func index(_ record: TargetRecord) {
        state.withLock { state in
            guard state.index.set(record.addresses, of: record) else { return }
            state.isFilterCurrent = false
        }
    }

    /// Lets the kernel leave out what does not matter any more, after everybody else who waits for the queue: a filter that
    /// is too wide does no harm.
    func filterLater() {
        let isFirst = state.withLock { state in
            if state.isFilterPlanned || state.isFilterCurrent { return false }
            state.isFilterPlanned = true
            return true
        }
        if isFirst { soon { [weak self] in self?.filter() } }
    }

    /// Lets the kernel leave out everything that does not matter. What came to matter is heard of from now on, so it is to
    /// be looked at after this.
    func filter() {
        guard surroundings.filtersRoutes else { return }
        let index: TargetIndex? = state.withLock { state in
            state.isFilterPlanned = false
            defer { state.isFilterCurrent = true }
            return state.isFilterCurrent ? nil : state.index
        }
        guard let index else { return }
        do {
            try session.withLock { session throws(NetlinkError) in try session.setFilter(index.filter) }
        } catch  where error.stage != .filter {
            // Deaf to what the new filter lets through: another socket hears everything until it has one.
            logger?.warning("listening anew", metadata: ["error": "\(error)"])
            session.withLock { $0.disconnect() }
            soon { [weak self] in self?.lookAtEverything() }
        } catch {
            let isFirst = state.withLock { state in
                defer { state.isFilterRefused = true }
                return !state.isFilterRefused
            }
            if isFirst { logger?.warning("every route change is heard of", metadata: ["error": "\(error)"]) }
        }
    }

    /// Tunnels that targets turned out to be reached through matter too; what changed before that was known is looked for.
    func noteUnderlay(_ addresses: Set<WireAddress>) {
        let isNews = state.withLock { state in
            guard state.index.setUnderlay(addresses) else { return false }
            state.isFilterCurrent = false
            return true
        }
        guard isNews else { return }
        filter()
        lookLater(at: state.withLock { $0.watched.all }, after: EventBurst())
    }
}

extension TargetRecord {
    /// The addresses routes to which matter.
    fileprivate var addresses: [WireAddress] {
        switch target.destination {
        case .address(let address): return [address.wire]
        case .atLarge(let addresses): return addresses.map(\.wire)
        case .name:
            if case .addresses(let addresses)? = name?.answer { return addresses.map(\.wire) }
            return name?.missingServers?.map(\.wire) ?? []
        }
    }
}
