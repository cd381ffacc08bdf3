import Dispatch
import LinuxPrimitives
import Netlink
import NetworkReachability
import RouteFilter

/// A connection to a fake kernel. It counts as open until it is let go.
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

    func link(index: UInt32) throws(NetlinkError) -> Link? {
        try askForLinks { $0.device(index)?.answer }
    }

    func link(named name: String) throws(NetlinkError) -> Link? {
        try askForLinks { $0.device(named: name)?.answer }
    }

    func links() throws(NetlinkError) -> [Link] {
        try askForLinks { $0.devices.map(\.answer) }
    }

    func addresses() throws(NetlinkError) -> [InterfaceAddress] {
        try ask { state, id in state.network(for: id).addresses.map(\.answer) }
    }

    func routes(_ queries: [RouteQuery]) throws(NetlinkError) -> [Result<Route, SystemError>] {
        let now = kernel.clock.monotonic
        return try ask(count: queries.count) { state, id in
            state.lookups += queries.count
            state.lookupRounds += 1
            let network = state.connections[id]?.staleState ?? state.network(for: id)
            // The state catches up with its notification while the answer is under way.
            state.connections[id]?.staleState = nil
            return queries.map { network.answer($0, at: now) }
        }
    }

    func legs(of query: RouteQuery) throws(NetlinkError) -> [NextHop] {
        let now = kernel.clock.monotonic
        return try ask { state, connection in state.network(for: connection).legs(of: query, at: now) }
    }

    func nextHop(id: UInt32) throws(NetlinkError) -> NextHopObject? {
        try ask { state, connection in
            state.network(for: connection).objects[id]?.answer
        }
    }

    func rules(_ family: AddressFamily) throws(NetlinkError) -> [RoutingRule] {
        try ask { state, connection in
            state.network(for: connection).rules.filter { $0.family == family }.map(\.answer)
        }
    }

    func routes(covering address: WireAddress) throws(NetlinkError) -> [TableRoute] {
        let now = kernel.clock.monotonic
        return try ask { state, id in
            state.network(for: id).entries.filter { $0.prefix.covers(address) }.map { entry in
                TableRoute(
                    prefix: AddressPrefix(entry.prefix.address, length: entry.prefix.length),
                    route: Route(
                        kind: entry.kind,
                        table: entry.table,
                        prefixLength: UInt8(entry.prefix.length),
                        metric: entry.metric,
                        nextHop: entry.legs.first?.answer,
                        nextHopID: entry.object,
                        lifetime: entry.end.map { max(.zero, $0 - now) }
                    )
                )
            }
        }
    }

    func neighbour(_ address: WireAddress, on link: UInt32) throws(NetlinkError) -> Neighbour? {
        try ask { state, connection in
            state.network(for: connection).neighbours[FakeNetwork.Place(address: address, link: link)]
        }
    }

    func hardware(of link: Link) -> LinkHardware {
        kernel.state.withLock { $0.network.device(link.index)?.hardware } ?? LinkHardware()
    }

    func listen(on queue: DispatchQueue, _ ring: @escaping @Sendable (EventBurst) -> Void) throws(NetlinkError) {
        let id = id
        let isRepeated = kernel.state.withLock { state in
            defer {
                state.connections[id]?.queue = queue
                state.connections[id]?.ring = ring
            }
            return state.connections[id]?.queue != nil
        }
        if isRepeated { fatalError("FakeKernel: this connection listens already") }
    }

    func stopListening() {
        let id = id
        // What the closure owns is let go outside the lock.
        let ear = kernel.state.withLock { state in
            defer { state.connections[id]?.close() }
            return state.connections[id]
        }
        withExtendedLifetime(ear) {}
    }

    /// Hints tell no destinations, so all of them pass.
    func setFilter(_ filter: RouteFilter?) throws(NetlinkError) {}

    func nextBurst(within limit: Duration) -> EventBurst? {
        let id = id
        return kernel.state.withLock { state in
            let burst = state.connections[id]?.take()
            if burst == nil { state.waited += limit }
            return burst
        }
    }

    func activity(ofPort port: UInt32) -> ProcessActivity { kernel.state.withLock { $0.activity } }

    /// A question about links waits for the lock that changes are made under: it is a barrier.
    private func askForLinks<Answer: Sendable>(
        _ answer: (FakeNetwork) -> Answer
    ) throws(NetlinkError) -> Answer {
        try ask { state, id in
            state.connections[id]?.staleState = nil
            return answer(state.network(for: id))
        }
    }

    private func ask<Answer: Sendable>(
        count: Int = 1,
        _ answer: (inout FakeKernel.State, UInt64) -> Answer
    ) throws(NetlinkError) -> Answer {
        let id = id
        let outcome: Result<Answer, NetlinkError> = kernel.state.withLock { state in
            state.questions += count
            if let fault = state.questionFault {
                return .failure(NetlinkError("read the kernel's answer", fault.cause))
            }
            return .success(answer(&state, id))
        }
        return try outcome.get()
    }
}
