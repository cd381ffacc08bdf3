package import LinuxSupport
package import Netlink
package import NetworkReachability

/// Answers queries about a network namespace that do not concern the path to a target, and reports when the answers may
/// have changed.
///
/// It shares the monitor of the managers of its namespace. Thread-safe; each query is sent to the kernel on the calling
/// thread.
package final class NetworkInspector: Sendable {
    let monitor: PathMonitor
    let options: NetworkReachabilityOptions

    /// Creates an inspector.
    ///
    /// - Throws: ``NetworkReachabilityError`` if the network namespace cannot be entered.
    package convenience init(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        self.init(monitor: try MonitorRegistry.monitor(of: options), options: options)
    }

    package init(monitor: PathMonitor, options: NetworkReachabilityOptions) {
        self.monitor = monitor
        self.options = options
    }

    /// The statistics of the monitor of this namespace.
    package var statistics: MonitorStatistics { monitor.statistics }

    /// Returns all interfaces with their addresses and default routes, ordered by index.
    ///
    /// The function dumps the IPv6 routing tables that rules refer to, and the beginning of the IPv4 ones. Do not call
    /// it frequently.
    package func interfaces() throws(NetlinkError) -> [InterfaceDetails] {
        let routes = try monitor.environment.kernel.defaultRoutes()
        return try monitor.answering { evaluator throws(MissingAnswers) in
            try evaluator.answers.interfaces(with: routes)
        }
    }

    /// Reports the current interfaces, and the new ones after each change, until the result is cancelled or released.
    /// During a burst of changes, the interfaces are read at most five times per second. Without changes, the interfaces are not read.
    ///
    /// - Parameter changed: Called on the monitor's queue. Consecutive equal failures are reported once.
    package func watchInterfaces(
        _ changed: @escaping @Sendable (Result<[InterfaceDetails], NetlinkError>) -> Void
    ) -> Cancellation {
        let watcher = InterfaceWatcher(self, changed)
        return observe { watcher.mayHaveChanged() }
    }

    /// Calls `action` on the monitor's queue soon, and then whenever links, addresses, rules, next hops, default routes
    /// or the routes to `addresses` may have changed, until the result is cancelled or released.
    package func observe(routesTo addresses: [IPAddress] = [], _ action: @escaping @Sendable () -> Void) -> Cancellation
    {
        let observer = monitor.addObserver(action)
        // The monitor listens only while it has targets. An address of this machine is the cheapest target.
        let targets = addresses.isEmpty ? [IPAddress(WireAddress(ipv4: 0x7f00_0001))] : addresses
        let subscriptions = targets.map { address in
            let record = monitor.record(of: Target(.address(address), PathConstraints(mark: options.firewallMark)))
            return Subscription(to: record, interest: .status, settle: .immediate) { _, _ in }
        }
        for subscription in subscriptions { subscription.begin() }
        return Cancellation {
            observer.cancel()
            for subscription in subscriptions { subscription.end() }
        }
    }
}

/// An interface with its addresses and default routes, at one moment.
package struct InterfaceDetails: Hashable, Sendable {
    /// The operational state. The raw value is the name in JSON output.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// Administratively up, with carrier.
        case up
        /// Waits for an external event, such as Wi-Fi authorization (IF_OPER_DORMANT, RFC 2863).
        case dormant
        /// Administratively up, without carrier.
        case noCarrier
        /// Administratively down.
        case down
    }

    package var interface: NetworkInterface
    /// The driver's kind of a software device, such as `vlan`; nil for hardware (IFLA_INFO_KIND, `ip-link(8)`).
    package var kind: String?
    package var state: State
    /// A Boolean value that indicates whether the interface has carrier (IFF_LOWER_UP); nil while it is
    /// administratively down, because the value has no meaning then.
    package var hasCarrier: Bool?
    /// A Boolean value that indicates whether the interface is a cellular modem, or runs over one.
    package var isExpensive: Bool
    /// The maximum packet size in bytes (MTU).
    package var mtu: UInt32
    /// The addresses in the kernel's order, IPv4 before IPv6.
    package var addresses: [Address]
    /// The default routes through the interface: IPv4 before IPv6, then by table and preference.
    package var defaultRoutes: [DefaultRoute]

    /// An address of the interface.
    package struct Address: Hashable, Sendable {
        package var address: IPAddress
        /// The length of the prefix that is on the link, in bits.
        package var prefixLength: Int
        /// The flags that distinguish the address from a normal one: `tentative`, `dadfailed`, `deprecated`
        /// (`ip-address(8)`).
        package var marks: [String]
    }

    /// A default route that leaves through the interface.
    package struct DefaultRoute: Hashable, Sendable {
        package var isIPv6: Bool
        /// The router; nil if all destinations are on the link.
        package var gateway: IPAddress?
        /// The metric. A route with a lower metric is preferred.
        package var metric: UInt32
        /// The routing table; 254 is `main`.
        package var table: UInt32
    }
}

extension Answers {
    /// Returns all interfaces with their addresses and the matching routes of `routes`, ordered by index.
    mutating func interfaces(with routes: [Netlink.DefaultRoute]) throws(MissingAnswers) -> [InterfaceDetails] {
        // A dump during which changes occur may contain a link twice.
        let links = Dictionary(try links().map { ($0.index, $0) }) { $1 }
        let own = Dictionary(grouping: try addresses(), by: \.interface)
        var table = InterfaceTable()
        var all: [InterfaceDetails] = []
        try MissingAnswers.forEach(links.values.sorted { $0.index < $1.index }) { link throws(MissingAnswers) in
            let (entry, isDown) = (try table.entry(for: link, &self), !link.isUp)
            all.append(
                InterfaceDetails(
                    interface: entry.interface,
                    kind: link.kind,
                    state: InterfaceDetails.State(link),
                    hasCarrier: isDown ? nil : link.hasCarrier,
                    isExpensive: entry.flags.contains(.isWWAN),
                    mtu: link.mtu,
                    addresses: AddressFamily.allCases.flatMap { family in
                        (own[link.index] ?? []).filter { $0.address.family == family }
                            .map(InterfaceDetails.Address.init)
                    },
                    defaultRoutes: routes.flatMap { InterfaceDetails.DefaultRoute.all(of: $0, through: link) }
                )
            )
        }
        return all
    }
}

extension InterfaceDetails.State {
    fileprivate init(_ link: Link) {
        switch link.obstacle {
        case .linkDown?: self = .down
        case .noCarrier?: self = .noCarrier
        case .dormant?: self = .dormant
        default: self = .up
        }
    }
}

extension InterfaceDetails.Address {
    fileprivate init(_ address: InterfaceAddress) {
        let names: [(AddressFlags, String)] = [
            (.tentative, "tentative"), (.detectionFailed, "dadfailed"), (.deprecated, "deprecated"),
        ]
        self.init(
            address: IPAddress(address.address),
            prefixLength: Int(address.prefixLength),
            marks: names.filter { address.flags.contains($0.0) }.map(\.1)
        )
    }
}

extension InterfaceDetails.DefaultRoute {
    /// Returns the part of a route that leaves through a link: one element per next hop on that link.
    fileprivate static func all(of route: Netlink.DefaultRoute, through link: Link) -> [Self] {
        route.nextHops.filter { $0.interface == link.index }.map { hop in
            Self(
                isIPv6: route.family == .ipv6,
                gateway: hop.gateway.map { IPAddress($0) },
                metric: route.metric,
                table: route.table
            )
        }
    }
}

/// Reads the interfaces after possible changes, at a limited rate, and reports differences. Runs on the monitor's
/// queue.
final class InterfaceWatcher: Sendable {
    private typealias Outcome = Result<[InterfaceDetails], NetlinkError>

    private struct State {
        var last: Outcome?
        /// The earliest time of the next evaluation, on the monotonic clock.
        var next = Duration.zero
        var timer: Cancellation?
    }

    /// The minimum time between two evaluations, because each one dumps tables.
    static let pause = Duration.milliseconds(200)

    private let inspector: NetworkInspector
    private let changed: @Sendable (Result<[InterfaceDetails], NetlinkError>) -> Void
    private let state = Locked(State())

    init(
        _ inspector: NetworkInspector,
        _ changed: @escaping @Sendable (Result<[InterfaceDetails], NetlinkError>) -> Void
    ) {
        self.inspector = inspector
        self.changed = changed
    }

    /// Evaluates the interfaces now, or schedules an evaluation if the last one was too recent.
    func mayHaveChanged() {
        let clock = inspector.monitor.environment.clock
        let (isPlanned, wait) = state.withLock { ($0.timer != nil, $0.next - clock.monotonic) }
        if isPlanned { return }
        if wait <= .zero { return evaluate() }
        let timer = clock.schedule(after: wait, on: inspector.monitor.queue) { [weak self] in self?.evaluate() }
        state.withLock { $0.timer = timer }
    }

    private func evaluate() {
        let outcome = Outcome { () throws(NetlinkError) in try inspector.interfaces() }
        let next = inspector.monitor.environment.clock.monotonic + Self.pause
        let (isChange, timer) = state.withLock { state in
            defer { state = State(last: outcome, next: next) }
            return (state.last != outcome, state.timer)
        }
        timer?.cancel()
        if isChange { changed(outcome) }
    }
}
