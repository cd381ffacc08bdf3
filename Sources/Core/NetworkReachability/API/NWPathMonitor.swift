public import Dispatch
import LinuxSupport

// Apple's names, so that code for the Network framework compiles and behaves on Linux.

/// A monitor of general reachability with the API of Apple's Network framework.
///
/// ``NetworkReachabilityManager`` provides more: hosts, reasons, statuses that are unknown, and policies for short changes.
///
/// Source: <https://developer.apple.com/documentation/network/nwpathmonitor>.
public final class NWPathMonitor: Sendable {
    private struct State {
        var handler: (@Sendable (NWPath) -> Void)?
        var queue: DispatchQueue?
        var token: NetworkReachabilityToken?
        var isCancelled = false
    }

    /// Nil if the process may not create a monitor. All paths are then unsatisfied.
    private let manager: NetworkReachabilityManager?
    private let state = Locked(State())

    /// Creates a monitor of all interface types.
    public convenience init() { self.init(options: NetworkReachabilityOptions()) }

    /// Creates a monitor whose path is satisfied only while packets leave through an interface of a type.
    public convenience init(requiredInterfaceType: NWInterface.InterfaceType) {
        var options = NetworkReachabilityOptions()
        // `other` stands for several types, so the types of the other cases are prohibited instead.
        let types = InterfaceType.allCases.filter { NWInterface.InterfaceType($0) != requiredInterfaceType }
        options.prohibitedInterfaceTypes = Set(types)
        self.init(options: options)
    }

    /// Creates a monitor whose path is not satisfied while packets leave through an interface of one of the types.
    public convenience init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
        var options = NetworkReachabilityOptions()
        let types = InterfaceType.allCases.filter { prohibitedInterfaceTypes.contains(NWInterface.InterfaceType($0)) }
        options.prohibitedInterfaceTypes = Set(types)
        self.init(options: options)
    }

    private convenience init(options: NetworkReachabilityOptions) {
        self.init(try? NetworkReachabilityManager(options: options))
    }

    package init(_ manager: NetworkReachabilityManager?) {
        self.manager = manager
    }

    /// The current path. Queries the kernel, also before ``start(queue:)`` and after ``cancel()``.
    public var currentPath: NWPath {
        guard let manager else { return NWPath(NetworkPath(reason: .netlinkUnavailable), supportsDNS: false) }
        return NWPath(manager.path, supportsDNS: manager.supportsDNS)
    }

    /// The closure that receives the current path after ``start(queue:)``, and then each change. It may be set or
    /// replaced at any time.
    @preconcurrency public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {
        get { state.withLock(\.handler) }
        set {
            let previous = state.withLock { state in
                defer { state.handler = newValue }
                return state.handler
            }
            withExtendedLifetime(previous) {}
        }
    }

    /// The queue of ``start(queue:)``; nil before it.
    public var queue: DispatchQueue? { state.withLock(\.queue) }

    /// Starts calling ``pathUpdateHandler`` on a queue. Further calls, and calls after ``cancel()``, have no effect.
    public func start(queue: DispatchQueue) {
        let isFirst = state.withLock { state in
            guard state.queue == nil, !state.isCancelled else { return false }
            state.queue = queue
            return true
        }
        guard isFirst else { return }
        guard let manager else { return queue.async { self.pathUpdateHandler?(self.currentPath) } }
        let last = Locked<NWPath?>(nil)
        let token = manager.addPathListener(onQueue: queue) { [weak self] path in
            // The manager also reports changes that a path of the Network framework does not contain.
            guard let self else { return }
            let new = NWPath(path, supportsDNS: manager.supportsDNS)
            let isChange = last.withLock { last in
                defer { last = new }
                return last != new
            }
            if isChange, !state.withLock(\.isCancelled) { pathUpdateHandler?(new) }
        }
        state.withLock { if !$0.isCancelled { $0.token = token } }
    }

    /// Ends the calls of ``pathUpdateHandler``. A cancelled monitor cannot be started again.
    public func cancel() {
        let ended = state.withLock { state in
            state.isCancelled = true
            defer { (state.token, state.handler) = (nil, nil) }
            return (state.token, state.handler)
        }
        withExtendedLifetime(ended) {}
    }
}

/// The current path, followed by each change. Each loop has a listener of its own, without ``NWPathMonitor/start(queue:)``.
extension NWPathMonitor: AsyncSequence {
    /// The sequence never throws.
    public typealias Failure = Never

    /// Reads the paths of one loop.
    public struct Iterator: AsyncIteratorProtocol {
        private let manager: NetworkReachabilityManager?
        private var paths: NetworkReachabilityUpdates<NetworkPath>.Iterator?
        private var last: NWPath?

        fileprivate init(_ manager: NetworkReachabilityManager?) {
            self.manager = manager
            paths = manager?.pathUpdates.makeAsyncIterator()
        }

        /// Returns the next path, or nil if the task is cancelled.
        public mutating func next() async -> NWPath? { await next(isolation: #isolation) }

        /// Returns the next path, or nil if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> NWPath? {
            while let manager, let path = await paths?.next(isolation: actor) {
                let new = NWPath(path, supportsDNS: manager.supportsDNS)
                if new == last { continue }
                last = new
                return new
            }
            return nil
        }
    }

    /// Starts a listener. The first element is the current path.
    public func makeAsyncIterator() -> Iterator { Iterator(manager) }
}

/// The path of packets to the network in general.
///
/// Source: <https://developer.apple.com/documentation/network/nwpath>.
public struct NWPath: Hashable, Sendable {
    /// Whether packets can leave. Linux reports no `requiresConnection`: it does not start a connection on demand. An
    /// unknown status of ``NetworkReachabilityManager`` is `unsatisfied`.
    public enum Status: Hashable, Sendable {
        /// Packets can leave.
        case satisfied
        /// Packets cannot leave.
        case unsatisfied
        /// A connection attempt may create the path. Linux does not report it.
        case requiresConnection
    }

    /// The reason why a path is not satisfied. Linux reports only `notAvailable`. ``NetworkPath/reason`` is precise.
    public enum UnsatisfiedReason: Hashable, Sendable {
        /// No path, for any reason.
        case notAvailable
        /// Linux does not report it.
        case cellularDenied
        /// Linux does not report it.
        case wifiDenied
        /// Linux does not report it.
        case localNetworkDenied
        /// Linux does not report it.
        case vpnInactive
    }

    /// Whether packets can leave.
    public let status: Status
    /// The reason of an unsatisfied path, always `notAvailable`.
    public let unsatisfiedReason: UnsatisfiedReason
    /// The interfaces that packets may leave through, the preferred one first.
    public let availableInterfaces: [NWInterface]
    /// A Boolean value that indicates whether the path supports IPv4.
    public let supportsIPv4: Bool
    /// A Boolean value that indicates whether the path supports IPv6.
    public let supportsIPv6: Bool
    /// A Boolean value that indicates whether a name server is configured and has a path. No packet is sent to it.
    public let supportsDNS: Bool
    /// A Boolean value that indicates whether packets leave over a wireless wide area network.
    public let isExpensive: Bool
    /// Always false, because Linux has no Low Data Mode.
    public var isConstrained: Bool { false }
    /// Always false, because Linux reports no such networks.
    public var isUltraConstrained: Bool { false }
    /// The routers that packets are sent to. Their port is 0.
    public let gateways: [NWEndpoint]

    init(_ path: NetworkPath, supportsDNS: Bool) {
        status = path.status.isReachable ? .satisfied : .unsatisfied
        unsatisfiedReason = .notAvailable
        availableInterfaces = path.availableInterfaces.map(NWInterface.init)
        (supportsIPv4, supportsIPv6) = (path.supportsIPv4, path.supportsIPv6)
        self.supportsDNS = supportsDNS && path.status.isReachable
        isExpensive = path.isExpensive
        gateways = path.status.isReachable ? path.gateway.map { [.hostPort(host: .init($0), port: 0)] } ?? [] : []
    }

    /// Returns a Boolean value that indicates whether packets may leave through an interface of a type.
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        availableInterfaces.contains { $0.type == type }
    }
}

extension NWPath: CustomDebugStringConvertible {
    /// The path in the form of Apple's, for example `satisfied (Path is satisfied), interface: eth0, ipv4, dns`.
    public var debugDescription: String {
        let isSatisfied = status == .satisfied
        var parts = [isSatisfied ? "satisfied (Path is satisfied)" : "unsatisfied (No network route)"]
        if let interface = availableInterfaces.first { parts.append("interface: \(interface.name.printable)") }
        let properties = [
            (supportsIPv4, "ipv4"), (supportsIPv6, "ipv6"), (supportsDNS, "dns"), (isExpensive, "expensive"),
        ]
        return (parts + properties.filter(\.0).map(\.1)).joined(separator: ", ")
    }
}

/// A network interface.
///
/// Source: <https://developer.apple.com/documentation/network/nwinterface>.
public struct NWInterface: Hashable, Sendable, CustomDebugStringConvertible {
    /// The type of an interface. Tunnels and virtual devices that are not wired are `other`, as on Apple's systems.
    public enum InterfaceType: Hashable, Sendable, CaseIterable {
        /// A tunnel, or any type without a case.
        case other
        /// A Wi-Fi device.
        case wifi
        /// A cellular modem.
        case cellular
        /// A wired device, also a virtual one.
        case wiredEthernet
        /// The loopback interface.
        case loopback

        init(_ type: NetworkReachability.InterfaceType) {
            self =
                switch type {
                case .ethernet, .wiredVirtual: .wiredEthernet
                case .wiFi: .wifi
                case .wwan: .cellular
                case .loopback: .loopback
                case .tunnel, .other: .other
                }
        }
    }

    /// The name, for example `eth0`.
    public let name: String
    /// The kernel's interface index.
    public let index: Int
    /// The type of the interface.
    public let type: InterfaceType

    init(_ interface: NetworkInterface) {
        (name, index, type) = (interface.name, Int(interface.index), InterfaceType(interface.type))
    }

    /// The name. Control characters are escaped.
    public var debugDescription: String { name.printable }
}

/// A host with a port. Linux reports no other endpoints.
///
/// Source: <https://developer.apple.com/documentation/network/nwendpoint>.
public enum NWEndpoint: Hashable, Sendable {
    /// A host. Linux reports addresses only.
    public enum Host: Hashable, Sendable, CustomDebugStringConvertible {
        /// An IPv4 address.
        case ipv4(IPAddress)
        /// An IPv6 address.
        case ipv6(IPAddress)

        init(_ address: IPAddress) { self = address.isIPv6 ? .ipv6(address) : .ipv4(address) }

        /// The text of the address. Control characters of its zone are escaped.
        public var debugDescription: String {
            switch self {
            case .ipv4(let address), .ipv6(let address): address.description.printable
            }
        }
    }

    /// A port.
    public struct Port: Hashable, Sendable, ExpressibleByIntegerLiteral {
        /// The number.
        public let rawValue: UInt16

        /// Creates a port.
        public init(integerLiteral value: UInt16) { rawValue = value }
    }

    /// A host with a port.
    case hostPort(host: Host, port: Port)
}
