package import LinuxSupport
package import Netlink
package import NetworkReachability

/// Answers queries about a network namespace other than the path to a target, and reports when the answers may have changed.
///
/// It shares the monitor of the managers of its namespace. Thread-safe; each question asks the kernel on the calling thread.
package final class NetworkInspector: Sendable {
    let monitor: PathMonitor
    let options: NetworkReachabilityOptions

    /// Throws ``NetworkReachabilityError`` when a namespace cannot be entered.
    package convenience init(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        self.init(monitor: try MonitorRegistry.monitor(of: options), options: options)
    }

    package init(monitor: PathMonitor, options: NetworkReachabilityOptions) {
        self.monitor = monitor
        self.options = options
    }

    /// The statistics of the monitor of this namespace.
    package var statistics: MonitorStatistics { monitor.statistics }

    /// Every interface with its addresses and default routes, ordered by index.
    ///
    /// This walks the IPv6 tables that rules lead to, and the beginning of the IPv4 ones: seldom is better than often.
    package func interfaces() throws(NetlinkError) -> [InterfaceDetails] {
        let routes = try monitor.environment.kernel.defaultRoutes()
        return try monitor.answering { judge throws(MissingAnswers) in
            try judge.answers.interfaces(with: routes)
        }
    }

    /// Tells of the interfaces now, then whenever anything of them changes, until the result is cancelled or let go. A storm
    /// of changes is evaluated five times a second. While nothing changes, nothing runs.
    ///
    /// - Parameter changed: Runs on the monitor's queue. Of failures, each is reported once in a row.
    package func watchInterfaces(
        _ changed: @escaping @Sendable (Result<[InterfaceDetails], NetlinkError>) -> Void
    ) -> Cancellation {
        let watcher = InterfaceWatcher(self, changed)
        return observe { watcher.mayHaveChanged() }
    }

    /// Runs `action` on the monitor's queue soon, and then whenever links, addresses, rules, next hops, default routes or
    /// the routes to `addresses` may have changed, until the result is cancelled or let go. Nothing runs in between.
    package func observe(routesTo addresses: [IPAddress] = [], _ action: @escaping @Sendable () -> Void) -> Cancellation
    {
        let observer = monitor.addObserver(action)
        // The monitor listens for targets; this machine itself is the cheapest.
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

/// An interface, and what is configured on it, at one moment.
package struct InterfaceDetails: Hashable, Sendable {
    /// The operational state. The raw value is the name in JSON output.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// It does: administratively up, with carrier.
        case up
        /// It waits for an outside event, such as Wi-Fi keys (RFC 2863 dormant).
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
    /// Nil while it is down: only then there is nobody to tell (IFF_LOWER_UP).
    package var hasCarrier: Bool?
    /// Whether the interface is a modem, or runs over one.
    package var isExpensive: Bool
    /// The largest packet it takes, in bytes.
    package var mtu: UInt32
    /// In the kernel's order, IPv4 before IPv6.
    package var addresses: [Address]
    /// IPv4 before IPv6, then by table, the best first.
    package var defaultRoutes: [DefaultRoute]

    /// An address of the interface.
    package struct Address: Hashable, Sendable {
        package var address: IPAddress
        /// Bits of the prefix that is on the link.
        package var prefixLength: Int
        /// What keeps it from being an address like others: `tentative`, `dadfailed`, `deprecated`, as `ip-address(8)` has it.
        package var marks: [String]
    }

    /// A default route that leaves through the interface.
    package struct DefaultRoute: Hashable, Sendable {
        package var isIPv6: Bool
        /// The router; nil where everything is on the link itself.
        package var gateway: IPAddress?
        /// The lower, the better.
        package var metric: UInt32
        /// The routing table; 254 is `main`.
        package var table: UInt32
    }
}

extension Answers {
    /// Every interface with its addresses and those of `routes` that leave through it, ordered by index.
    mutating func interfaces(with routes: [Netlink.DefaultRoute]) throws(MissingAnswers) -> [InterfaceDetails] {
        // A dump that changes came into may name a link twice.
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
    /// What of a route leaves through a link: of one with several next hops, those.
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

/// Reads the interfaces when something may have changed, but not too often, and tells what is new. All of it runs on the monitor's
/// queue.
final class InterfaceWatcher: Sendable {
    private typealias Outcome = Result<[InterfaceDetails], NetlinkError>

    private struct State {
        var last: Outcome?
        /// When to evaluate again at the earliest, on the monotonic clock.
        var next = Duration.zero
        var timer: Cancellation?
    }

    /// From one evaluation to the next: each asks for a whole table.
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

    /// Something may have changed.
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
