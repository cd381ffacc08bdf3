import Dispatch
import KernelLab
import LinuxSupport
import Logging
import Netlink
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import NetworkReachability

/// A kernel that rejects socket filters, also if it accepted earlier ones (for example because of a seccomp filter).
@Suite struct FilterRefusalTests {
    @Test(arguments: [NetlinkError.Stage.filter, .socket])
    func `changes are reported although the kernel rejects a filter`(stage: NetlinkError.Stage) async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let kernel = FilterRefusingKernel(kernel: world.kernel)
            let log = RecordingLog.warnings()
            let environment = MonitorEnvironment(kernel: kernel, clock: world.clock, resolver: world.resolver)
            let monitor = PathMonitor(
                environment: environment,
                logger: log.logger
            )
            let targets = NetworkReachabilityMonitor(monitor: monitor, options: NetworkReachabilityOptions())
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
            func flush() {
                for _ in 0..<4 { monitor.queue.sync {} }
            }
            try targets.insert("192.0.2.1")
            flush()
            kernel.refusal.withLock { $0 = stage }
            for host in 2...5 {
                try targets.insert("192.0.2.\(host)")
                flush()
            }
            checks.expect(recorder.lines.count, is: 5)
            let filters = kernel.filters.withLock { $0 }
            // A socket that may lack events is closed once. The next one has no filter that could remain.
            checks.expect(filters.count, is: stage == .filter ? 1 : 2)
            checks.expect(log.lines.count { $0.hasPrefix("cannot filter route messages") }, is: 1)
            checks.expect(log.lines.count, is: stage == .filter ? 1 : 2)
            try world.apply(.addRoute(RouteChange("192.0.2.4/32", .blackhole)))
            flush()
            checks.expect(recorder.histories["192.0.2.4"], is: [.wired, .notReachable])
            checks.expect(recorder.received.count, is: 6)
            checks.expect(world.kernel.connectionCount, is: 1)
            checks.expect(world.kernel.listenerCount, is: 1)
            token.cancel()
        }
    }

    @Test func `a removed host is removed from the filter`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let kernel = FilterRefusingKernel(kernel: world.kernel)
            let environment = MonitorEnvironment(kernel: kernel, clock: world.clock, resolver: world.resolver)
            let monitor = PathMonitor(environment: environment)
            var options = NetworkReachabilityOptions()
            options.nameResolutionWait = .zero
            let targets = NetworkReachabilityMonitor(monitor: monitor, options: options)
            try targets.setHosts(["nowhere.example", "192.0.2.1", "192.0.2.2", "192.0.2.3"])
            let token = targets.addListener(onQueue: nil) { _ in }
            func filtersAsked() -> [Int] {
                for _ in 0..<4 { monitor.queue.sync {} }
                return kernel.filters.withLock { $0 }
            }
            let before = filtersAsked()
            // The host has no address, so the filter does not change.
            targets.remove("nowhere.example")
            checks.expect(filtersAsked(), is: before)
            targets.remove("192.0.2.1")
            checks.expect(filtersAsked(), is: before.map { $0 + 1 })
            targets.remove("192.0.2.2")
            checks.expect(filtersAsked(), is: before.map { $0 + 2 })
            token.cancel()
        }
    }
}

/// A fake kernel whose sockets reject filters.
struct FilterRefusingKernel: Kernel {
    let kernel: FakeKernel
    /// The stage at which filters fail; nil accepts them.
    let refusal = Locked<NetlinkError.Stage?>(nil)
    /// The number of requested filters per connection.
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

        func query(_ queries: [KernelQuery]) throws(NetlinkError) -> [KernelResponse] { try real.query(queries) }
        func stopListening() { real.stopListening() }

        func listen(
            on queue: DispatchQueue,
            _ received: @escaping @Sendable (EventBurst) -> Void
        ) throws(NetlinkError) -> [String] {
            try real.listen(on: queue, received)
        }

        func setFilter(_ filter: RouteFilter?) throws(NetlinkError) {
            kernel.filters.withLock { $0[number] += 1 }
            guard let stage = kernel.refusal.withLock({ $0 }) else {
                return kernel.filtered.withLock { _ = $0.insert(number) }
            }
            // Only an existing filter can remain.
            let isFiltered = kernel.filtered.withLock { $0.contains(number) }
            throw NetlinkError("filter a netlink socket", .notPermitted, stage: isFiltered ? stage : .filter)
        }
    }
}
