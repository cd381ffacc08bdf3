import Dispatch
import LinuxPrimitives
import Netlink
import NetworkReachability
import NetworkReachabilityTesting
import RouteFilter

/// A fake kernel whose sockets take no filter, or not any more.
struct FilterRefusingKernel: Kernel {
    let kernel: FakeKernel
    /// Where filters fail from now on; nil lets them pass.
    let refusal = Locked<NetlinkError.Stage?>(nil)
    /// How many filters were asked for, of each connection.
    let filters = Locked<[Int]>([])
    /// The connections that have a filter.
    fileprivate let filtered = Locked<Set<Int>>([])

    func connect() throws(NetlinkError) -> any KernelConnection {
        let number = filters.withLock { filters in
            filters.append(0)
            return filters.count - 1
        }
        return Connection(real: try kernel.connect(), kernel: self, number: number)
    }

    func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        kernel.watchNamespace(on: queue, changed)
    }

    func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] { try kernel.defaultRoutes() }

    private final class Connection: KernelConnection {
        let real: any KernelConnection
        let kernel: FilterRefusingKernel
        let number: Int

        init(real: any KernelConnection, kernel: FilterRefusingKernel, number: Int) {
            self.real = real
            self.kernel = kernel
            self.number = number
        }

        var isCurrent: Bool { real.isCurrent }

        func link(index: UInt32) throws(NetlinkError) -> Link? { try real.link(index: index) }
        func link(named name: String) throws(NetlinkError) -> Link? { try real.link(named: name) }
        func links() throws(NetlinkError) -> [Link] { try real.links() }
        func addresses() throws(NetlinkError) -> [InterfaceAddress] { try real.addresses() }
        func legs(of query: RouteQuery) throws(NetlinkError) -> [NextHop] { try real.legs(of: query) }
        func nextHop(id: UInt32) throws(NetlinkError) -> NextHopObject? { try real.nextHop(id: id) }
        func rules(_ family: AddressFamily) throws(NetlinkError) -> [RoutingRule] { try real.rules(family) }

        func neighbour(_ address: WireAddress, on link: UInt32) throws(NetlinkError) -> Neighbour? {
            try real.neighbour(address, on: link)
        }

        func hardware(of link: Link) -> LinkHardware { real.hardware(of: link) }
        func stopListening() { real.stopListening() }
        func nextBurst(within limit: Duration) -> EventBurst? { real.nextBurst(within: limit) }
        func activity(ofPort port: UInt32) -> ProcessActivity { real.activity(ofPort: port) }

        func routes(_ queries: [RouteQuery]) throws(NetlinkError) -> [Result<Route, SystemError>] {
            try real.routes(queries)
        }

        func listen(on queue: DispatchQueue, _ ring: @escaping @Sendable (EventBurst) -> Void) throws(NetlinkError) {
            try real.listen(on: queue, ring)
        }

        func setFilter(_ filter: RouteFilter?) throws(NetlinkError) {
            kernel.filters.withLock { $0[number] += 1 }
            guard let stage = kernel.refusal.withLock({ $0 }) else {
                return kernel.filtered.withLock { _ = $0.insert(number) }
            }
            // Only a filter that is there can stay.
            let isFiltered = kernel.filtered.withLock { $0.contains(number) }
            throw NetlinkError("filter a netlink socket", .notPermitted, stage: isFiltered ? stage : .filter)
        }
    }
}
