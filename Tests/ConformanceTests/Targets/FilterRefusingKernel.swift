import Dispatch
import KernelLab
import LinuxSupport
import Netlink
import NetworkReachability
import NetworkReachabilityTesting

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
        var hasEvents: Bool { real.hasEvents }

        func ask(_ questions: [KernelQuestion]) throws(NetlinkError) -> [KernelAnswer] { try real.ask(questions) }
        func stopListening() { real.stopListening() }

        func listen(
            on queue: DispatchQueue,
            _ heard: @escaping @Sendable (EventBurst) -> Void
        ) throws(NetlinkError) -> [String] {
            try real.listen(on: queue, heard)
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
