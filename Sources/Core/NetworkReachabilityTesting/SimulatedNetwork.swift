package import Dispatch
package import LinuxSupport
package import Netlink
public import NetworkReachability

/// A network whose paths a test sets.
///
/// ```swift
/// let network = SimulatedNetwork()
/// let manager = try NetworkReachabilityManager(host: "192.0.2.1", network: network)
/// network.setPath(.noCarrier)
/// ```
///
/// Thread-safe. A change applies immediately to queries of a manager. Its listeners are called on their queues.
public final class SimulatedNetwork: Sendable {
    /// The path of packets to a destination.
    public enum Path: Hashable, Sendable {
        /// Packets leave through an interface of this type.
        case reachable(InterfaceType)
        /// The routing tables contain no route.
        case noRoute
        /// The interface of the route has no carrier, for example because a cable is unplugged.
        case noCarrier
        /// A route of the type `prohibit` rejects packets.
        case prohibited
    }

    private struct State {
        var path: Path
        var isUnknown = false
        var exceptions: [WireAddress: Path] = [:]
    }

    private let state: Locked<State>
    private let watchers = Watchers()

    /// Creates a network.
    ///
    /// - Parameter path: The path to every destination.
    public init(_ path: Path = .reachable(.ethernet)) {
        state = Locked(State(path: path))
    }

    /// Sets the path to every destination, except destinations with an individual path.
    public func setPath(_ path: Path) {
        change { ($0.path, $0.isUnknown) = (path, false) }
    }

    /// Sets the path to one destination.
    ///
    /// - Parameters:
    ///   - path: The path; nil removes the individual path of the destination.
    ///   - address: The destination.
    public func setPath(_ path: Path?, to address: IPAddress) {
        change { $0.exceptions[address.wire] = path }
    }

    /// Sets the status of every destination, and removes individual paths. With `NetworkReachabilityStatus.unknown`,
    /// kernel queries fail.
    public func setStatus(_ status: NetworkReachabilityStatus) {
        change { state in
            state.isUnknown = status == .unknown
            state.exceptions = [:]
            switch status {
            case .unknown: break
            case .notReachable: state.path = .noRoute
            case .reachable(.ethernetOrWiFi): state.path = .reachable(.ethernet)
            case .reachable(.wwan): state.path = .reachable(.wwan)
            }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        watchers.run()
    }

    /// Returns the path to an address; nil if kernel queries fail.
    fileprivate func path(to address: WireAddress) -> Path? {
        state.withLock { $0.isUnknown ? nil : $0.exceptions[address] ?? $0.path }
    }

    fileprivate func permitQueries() throws(NetlinkError) {
        if state.withLock({ $0.isUnknown }) { throw NetlinkError("read the kernel's answer", .notPermitted) }
    }
}

extension SimulatedNetwork: Kernel {
    package func connect() throws(NetlinkError) -> any KernelConnection {
        try permitQueries()
        return SimulatedConnection(self)
    }

    package func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] { [] }

    /// Reports every change as a change of the namespace, after which a monitor evaluates all targets.
    package func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        watchers.add(on: queue, changed)
    }
}

private final class SimulatedConnection: KernelConnection {
    private let network: SimulatedNetwork

    init(_ network: SimulatedNetwork) {
        self.network = network
    }

    var isCurrent: Bool { true }
    var hasEvents: Bool { false }

    func listen(
        on queue: DispatchQueue,
        _ received: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) -> [String] { [] }

    func setFilter(_ filter: RouteFilter?) throws(NetlinkError) {}
    func stopListening() {}

    func query(_ queries: [KernelQuery]) throws(NetlinkError) -> [KernelResponse] {
        try network.permitQueries()
        return queries.map { query in
            switch query {
            case .link(let index): .link(SimulatedLink.all.map(\.link).first { $0.index == index })
            case .linkNamed(let name): .link(SimulatedLink.all.map(\.link).first { $0.name == name })
            case .links: .links(SimulatedLink.all.map(\.link))
            case .route(let query): .route(route(query))
            case .addresses: .addresses([])
            case .rules: .rules([])
            case .routesCovering: .tableRoutes([])
            case .isIPv6Disabled: .isIPv6Disabled(nil)
            case .neighbour: .neighbour(nil)
            case .forwarding: .forwarding([])
            case .peers: .peers(nil)
            case .hardware(let link):
                .hardware(SimulatedLink.all.first { $0.link.index == link.index }?.hardware ?? LinkHardware())
            }
        }
    }

    private func route(_ query: RouteQuery) -> Result<Route, SystemError> {
        let isIPv4 = query.destination.family == .ipv4
        let path = network.path(to: query.destination)
        if query.destination.isLoopback || path == .reachable(.loopback) {
            let hop = NextHop(interface: SimulatedLink.loopback.link.index)
            return .success(Route(kind: .local, nextHops: [hop], source: query.destination))
        }
        let link: SimulatedLink
        switch path {
        case .reachable(let type): link = SimulatedLink.all.first { $0.type == type } ?? .loopback
        case .noCarrier: link = .unplugged
        case .prohibited: return .failure(.accessDenied)
        case .noRoute, nil: return .failure(.networkUnreachable)
        }
        if let bound = query.outputInterface, bound != link.link.index { return .failure(.networkUnreachable) }
        let gateway = WireAddress(isIPv4 ? "192.0.2.1" : "fe80::1")
        let source = WireAddress(isIPv4 ? "192.0.2.2" : "2001:db8::2")
        let hop = NextHop(interface: link.link.index, gateway: gateway)
        return .success(Route(kind: .unicast, nextHops: [hop], source: source))
    }
}

/// An interface of the simulated network. There is one of each type, and one without carrier.
private struct SimulatedLink: Sendable {
    let link: Link
    let type: InterfaceType?
    var hardware = LinkHardware()

    static let loopback = SimulatedLink(1, "lo", .loopback, .loopback)
    static let unplugged = SimulatedLink(2, "eth1", nil, hasCarrier: false)
    static let all = [
        loopback, unplugged, SimulatedLink(3, "eth0", .ethernet),
        SimulatedLink(4, "wlan0", .wiFi, hardware: LinkHardware(wireless: .station, deviceType: "wlan")),
        SimulatedLink(5, "wwan0", .wwan, .none, kind: "wwan"),
        SimulatedLink(6, "veth0", .wiredVirtual, kind: "veth"), SimulatedLink(7, "tun0", .tunnel, .none, kind: "tun"),
        SimulatedLink(8, "caif0", .other, kind: "caif"),
    ]

    private init(
        _ index: UInt32,
        _ name: String,
        _ type: InterfaceType?,
        _ hardwareType: HardwareType = .ethernet,
        kind: String? = nil,
        hardware: LinkHardware = LinkHardware(),
        hasCarrier: Bool = true
    ) {
        var flags: LinkFlags = hasCarrier ? [.up, .carrier, .running] : .up
        if type == .loopback { flags.insert(.loopback) }
        link = Link(index: index, name: name, flags: flags, hardwareType: hardwareType, kind: kind)
        (self.type, self.hardware) = (type, hardware)
    }
}

// MARK: - Managers

/// Managers of a network that a test controls. Each manager has its own monitor and sends no queries to the system.
/// `NetworkReachabilityOptions.networkNamespace` has no effect.
extension NetworkReachabilityManager {
    /// Creates a manager of general reachability.
    ///
    /// - Throws: `NetworkReachabilityError` if `NetworkReachabilityOptions.addressesAtLarge` is empty.
    public convenience init(
        network: SimulatedNetwork,
        clock: ManualClock = ManualClock(),
        resolver: FakeResolver = FakeResolver(),
        options: NetworkReachabilityOptions = NetworkReachabilityOptions()
    ) throws(NetworkReachabilityError) {
        self.init(try Target(options: options), kernel: network, clock, resolver, options)
    }

    /// Creates a manager of a host, given by its name or by an address literal.
    ///
    /// - Throws: `NetworkReachabilityError` if `host` is neither a host name nor an address.
    public convenience init(
        host: String,
        network: SimulatedNetwork,
        clock: ManualClock = ManualClock(),
        resolver: FakeResolver = FakeResolver(),
        options: NetworkReachabilityOptions = NetworkReachabilityOptions()
    ) throws(NetworkReachabilityError) {
        self.init(try Target(host: host, options: options), kernel: network, clock, resolver, options)
    }

    package convenience init(
        _ target: Target,
        kernel: any Kernel,
        _ clock: ManualClock,
        _ resolver: FakeResolver,
        _ options: NetworkReachabilityOptions
    ) {
        let environment = MonitorEnvironment(kernel: kernel, clock: clock, resolver: resolver)
        self.init(target, monitor: PathMonitor(environment: environment, logger: options.logger), options: options)
    }
}
