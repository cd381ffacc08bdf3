import Dispatch
import LinuxSupport
import Netlink
import NetworkReachability

/// A connection to a fake kernel. It is open until it is released.
final class FakeConnection: KernelConnection {
    private let id: UInt64
    private let kernel: FakeKernel

    init(_ id: UInt64, to kernel: FakeKernel) {
        self.id = id
        self.kernel = kernel
    }

    deinit {
        let id = id
        _ = kernel.state.withLock { $0.connections.removeValue(forKey: id) }
    }

    var isCurrent: Bool {
        let id = id
        return kernel.state.withLock { $0.connections[id]?.isCurrent ?? false }
    }

    var hasEvents: Bool {
        let id = id
        return kernel.state.withLock { $0.connections[id]?.pending.isEmpty == false }
    }

    var isDelivering: Bool {
        let id = id
        return kernel.state.withLock { $0.connections[id]?.isDelivering ?? false }
    }

    func query(_ queries: [KernelQuery]) throws(NetlinkError) -> [KernelResponse] {
        let (id, now) = (id, kernel.clock.monotonic)
        let outcome: Result<[KernelResponse], NetlinkError> = kernel.state.withLock { state in
            state.questions += queries.count
            if let fault = state.questionFault {
                return .failure(NetlinkError("read the kernel's answer", fault.cause))
            }
            if queries.contains(where: \.isLookup) { state.lookupRounds += 1 }
            return .success(queries.map { state.answer(to: $0, of: id, at: now) })
        }
        return try outcome.get()
    }

    func listen(
        on queue: DispatchQueue,
        _ received: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) -> [String] {
        let id = id
        let isRepeated = kernel.state.withLock { state in
            defer {
                state.connections[id]?.queue = queue
                state.connections[id]?.received = received
            }
            return state.connections[id]?.queue != nil
        }
        if isRepeated { fatalError("FakeKernel: this connection listens already") }
        return []
    }

    func stopListening() {
        let id = id
        // The objects that the closure retains are released outside the lock.
        let listener = kernel.state.withLock { state in
            defer { state.connections[id]?.close() }
            return state.connections[id]
        }
        withExtendedLifetime(listener) {}
    }

    /// Does nothing. Hints contain no destinations, so all of them pass.
    func setFilter(_ filter: RouteFilter?) throws(NetlinkError) {}
}

extension KernelQuery {
    fileprivate var isLookup: Bool {
        if case .route = self { true } else { false }
    }
}

extension FakeKernel.State {
    /// Returns the response to a query of a connection.
    fileprivate mutating func answer(
        to query: KernelQuery,
        of connection: UInt64,
        at now: Duration
    ) -> KernelResponse {
        let network = network(for: connection)
        switch query {
        case .link, .linkNamed, .links:
            // A query about links waits for the kernel's lock for changes, so it is a barrier.
            connections[connection]?.staleState = nil
            return switch query {
            case .link(let index): .link(network.device(index)?.answer)
            case .linkNamed(let name): .link(network.device(named: name)?.answer)
            default: .links(network.devices.map(\.answer))
            }
        case .route(let query):
            lookups += 1
            let seen = connections[connection]?.staleState ?? network
            // The state becomes current with the first answer after the notification.
            connections[connection]?.staleState = nil
            return .route(seen.answer(query, at: now))
        case .addresses: return .addresses(network.addresses.map(\.answer))
        case .rules(let family): return .rules(network.rules.filter { $0.family == family }.map(\.answer))
        case .routesCovering(let address): return .tableRoutes(network.routes(covering: address, at: now))
        case .isIPv6Disabled: return .isIPv6Disabled(nil)
        case .neighbour(let address, let link):
            return .neighbour(network.neighbours[FakeNetwork.Place(address: address, link: link)])
        case .forwarding(let link): return .forwarding(network.farEnds[link] ?? [])
        case .peers(let link): return .peers(network.showsPeers ? network.farEnds[link] ?? [] : nil)
        case .hardware(let link): return .hardware(self.network.device(link.index)?.hardware ?? LinkHardware())
        }
    }
}

extension FakeNetwork {
    fileprivate func routes(covering address: WireAddress, at now: Duration) -> [TableRoute] {
        entries.filter { $0.prefix.covers(address) }.map { entry in
            TableRoute(
                prefix: AddressPrefix(entry.prefix.address, length: entry.prefix.length),
                route: Route(
                    kind: entry.kind,
                    table: entry.table,
                    prefixLength: UInt8(entry.prefix.length),
                    metric: entry.metric,
                    nextHops: entry.hops.map(\.answer),
                    nextHopID: entry.object,
                    lifetime: entry.end.map { max(.zero, $0 - now) }
                )
            )
        }
    }
}
