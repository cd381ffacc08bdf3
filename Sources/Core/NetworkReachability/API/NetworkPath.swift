import LinuxSupport

/// The path of packets to a target at one moment, or the reason why there is no path. A value type.
public struct NetworkPath: Hashable, Sendable {
    /// The properties that are shared with equal paths of other targets, which saves memory.
    private(set) var shared: SharedValue<Common>

    /// The address whose route determines the path. For general reachability it is one of
    /// ``NetworkReachabilityOptions/addressesAtLarge``, for a host name one of its addresses. Nil if no address was
    /// looked up.
    public var destination: IPAddress?

    /// A Boolean value that indicates whether the target flaps: its status has changed ``flappingChanges`` times within
    /// ``flappingWindow``. Flapping ends when the status has not changed for that time.
    ///
    /// Changes are counted while the target has a listener. A ``SettlePolicy`` does not affect the count.
    public var isFlapping = false

    /// The number of this version of the path. The first is 1, and each change of the path observed by this process
    /// adds 1.
    public var generation: UInt64 = 0

    package init(flags: NetworkReachabilityFlags? = nil, reason: UnsatisfiedReason? = nil) {
        self.init(SharedValue(Common(flags: flags, reason: reason)), to: nil)
    }

    init(_ common: SharedValue<Common>, to destination: IPAddress?) {
        shared = common
        self.destination = destination
    }

    /// The status that corresponds to ``flags``.
    public var status: NetworkReachabilityStatus { NetworkReachabilityStatus(flags) }

    /// A Boolean value that indicates whether packets leave over a wireless wide area network, which is often metered.
    public var isExpensive: Bool { flags?.contains(.isWWAN) ?? false }

    /// Returns whether the two paths are equal except for the generation and the number of carrier losses.
    package func isSame(as other: NetworkPath) -> Bool {
        var other = other
        other.generation = generation
        if other.carrierLosses != carrierLosses { other.carrierLosses = carrierLosses }
        return self == other
    }

    /// The properties that the paths of several targets can share.
    var common: Common {
        get { shared.value }
        set { shared = SharedValue(newValue) }
    }
}

extension NetworkPath: CustomStringConvertible {
    /// The path in one line, for example `reachable (ethernet or Wi-Fi), interface eth0, gateway 192.0.2.1, source
    /// 192.0.2.7`.
    public var description: String {
        var parts = [status.description]
        if let reason { parts.append(reason.description) }
        if let interface { parts.append("interface \(interface)") }
        if let gateway { parts.append("gateway \(gateway)") }
        if let source { parts.append("source \(source)") }
        return parts.joined(separator: ", ").printable
    }
}

extension NetworkPath {
    /// The number of status changes within ``flappingWindow`` from which a target flaps: 6, three losses and three
    /// returns. Unplugging and plugging in a cable causes two changes, the restart of a switch two or four.
    public static let flappingChanges = 6

    /// The period in which status changes are counted for ``isFlapping``: 60 seconds. Flapping ends after a period
    /// without a change.
    public static let flappingWindow: Duration = .seconds(60)
}

/// A reference to an immutable value that many owners share, because the value is large or has many owners.
final class SharedValue<Value: Hashable & Sendable>: Hashable, Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }

    static func == (one: SharedValue, other: SharedValue) -> Bool { one === other || one.value == other.value }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// The keys and values of the JSON output of the command `reachability`, schema 1. New keys may be added. Existing keys
/// are not renamed or removed.
extension NetworkPath: Codable {
    private enum Key: String, CodingKey {
        case schema, status, connectionType, flags, interface, interfaceType, gateway, source, reason, generation
        case underlyingInterfaces, destination, supportsIPv4, supportsIPv6, flapping
        // Not part of the command's output. They make the decoded path equal to the encoded one.
        case interfaces, table, mtu
    }

    /// Encodes the path. The output has no time, target or namespace, because a path does not contain them.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1, forKey: .schema)
        switch status {
        case .unknown: try container.encode("unknown", forKey: .status)
        case .notReachable: try container.encode("notReachable", forKey: .status)
        case .reachable(let type):
            try container.encode("reachable", forKey: .status)
            try container.encode(type.rawValue, forKey: .connectionType)
        }
        try container.encode(flags?.names ?? [], forKey: .flags)
        try container.encodeIfPresent(interface?.name, forKey: .interface)
        try container.encodeIfPresent(interface?.type.rawValue, forKey: .interfaceType)
        try container.encodeIfPresent(gateway, forKey: .gateway)
        try container.encodeIfPresent(source, forKey: .source)
        try container.encodeIfPresent(reason?.rawValue, forKey: .reason)
        try container.encode(generation, forKey: .generation)
        try container.encode(interface?.underlying.map(\.name) ?? [], forKey: .underlyingInterfaces)
        try container.encodeIfPresent(destination, forKey: .destination)
        try container.encode(supportsIPv4, forKey: .supportsIPv4)
        try container.encode(supportsIPv6, forKey: .supportsIPv6)
        try container.encode(isFlapping, forKey: .flapping)
        try container.encode((interface.map { [$0] } ?? []) + common.otherInterfaces, forKey: .interfaces)
        try container.encodeIfPresent(table, forKey: .table)
        try container.encodeIfPresent(mtu, forKey: .mtu)
    }

    /// Decodes the output of ``encode(to:)``, or a line printed by the command. Unknown keys are ignored.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let schema = try container.decodeIfPresent(Int.self, forKey: .schema) ?? 1
        guard schema == 1 else {
            let text = "cannot read schema \(schema): this version reads schema 1"
            throw DecodingError.dataCorruptedError(forKey: .schema, in: container, debugDescription: text)
        }
        self.init()
        let names = try container.decodeIfPresent([String].self, forKey: .flags) ?? []
        let isKnown = try container.decode(String.self, forKey: .status) != "unknown"
        common.flags = isKnown ? NetworkReachabilityFlags(names: names) : nil
        common.reason = try container.decodeIfPresent(UnsatisfiedReason.self, forKey: .reason)
        common.gateway = try container.decodeIfPresent(IPAddress.self, forKey: .gateway)
        common.source = try container.decodeIfPresent(IPAddress.self, forKey: .source)
        common.table = try container.decodeIfPresent(UInt32.self, forKey: .table)
        common.mtu = try container.decodeIfPresent(UInt32.self, forKey: .mtu)
        common.supportsIPv4 = try container.decodeIfPresent(Bool.self, forKey: .supportsIPv4) ?? false
        common.supportsIPv6 = try container.decodeIfPresent(Bool.self, forKey: .supportsIPv6) ?? false
        destination = try container.decodeIfPresent(IPAddress.self, forKey: .destination)
        isFlapping = try container.decodeIfPresent(Bool.self, forKey: .flapping) ?? false
        generation = try container.decodeIfPresent(UInt64.self, forKey: .generation) ?? 0
        if let interfaces = try container.decodeIfPresent([NetworkInterface].self, forKey: .interfaces) {
            common.interface = interfaces.first
            common.otherInterfaces = Array(interfaces.dropFirst())
        } else if let name = try container.decodeIfPresent(String.self, forKey: .interface) {
            let type = try container.decodeIfPresent(InterfaceType.self, forKey: .interfaceType) ?? .other
            let lower = try container.decodeIfPresent([String].self, forKey: .underlyingInterfaces) ?? []
            let underlying = lower.map { NetworkInterface(index: 0, name: $0, type: .other) }
            common.interface = NetworkInterface(index: 0, name: name, type: type, underlying: underlying)
        }
    }
}

extension NetworkPath.UnsatisfiedReason: Codable {}

extension IPAddress: Codable {
    /// Encodes the address as text, with its zone.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Decodes the text of an address.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let address = IPAddress(text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\"\(text.printable)\" is not an IP address"
            )
        }
        self = address
    }
}

extension NetworkReachabilityFlags {
    /// Creates the set of the flags with these names. Unknown names are ignored.
    fileprivate init(names: [String]) {
        self = Self.known.reduce(into: []) { if names.contains($1.1) { $0.insert($1.0) } }
    }
}

extension NetworkPath {
    /// The properties that the paths of several targets can share.
    struct Common: Hashable, Sendable {
        var flags: NetworkReachabilityFlags?
        var reason: UnsatisfiedReason?
        var interface: NetworkInterface?
        var gateway: IPAddress?
        var source: IPAddress?
        var table: UInt32?
        var supportsIPv4 = false
        var supportsIPv6 = false
        var mtu: UInt32?
        /// The other interfaces that packets may leave through, without `interface`.
        var otherInterfaces: [NetworkInterface] = []
        /// The number of carrier losses of the outgoing link and the link below it.
        var carrierLosses: UInt32 = 0
    }

    /// The number of carrier losses of the interface, or of the device below it, as counted by the driver. If the
    /// number has grown and the path is the same, the path was interrupted in between.
    package var carrierLosses: UInt32 {
        get { common.carrierLosses }
        set { common.carrierLosses = newValue }
    }

    /// Returns the number of carrier losses between two reachable paths over the same interface; 0 if the paths are not
    /// comparable.
    package func carrierLosses(since last: NetworkPath) -> UInt32 {
        guard status.isReachable, last.status.isReachable, interface?.index == last.interface?.index else { return 0 }
        return carrierLosses &- last.carrierLosses
    }

    /// The flags in Apple's terms; nil while the status is unknown.
    public var flags: NetworkReachabilityFlags? {
        get { common.flags }
        set { common.flags = newValue }
    }

    /// The reason why the target is not reachable or its status is unknown; nil if the target is reachable.
    public var reason: UnsatisfiedReason? {
        get { common.reason }
        set { common.reason = newValue }
    }

    /// The interface that packets leave through. If the target is not reachable, the interface that prevents it, for
    /// example because it is down, dormant or without carrier.
    public var interface: NetworkInterface? {
        get { common.interface }
        set { common.interface = newValue }
    }

    /// The interfaces that packets may leave through, with ``interface`` as the first. IPv4, IPv6 and the addresses of
    /// one name may use different interfaces. Empty if the target is not reachable. Corresponds to
    /// `NWPath.availableInterfaces`.
    public var availableInterfaces: [NetworkInterface] {
        guard status.isReachable, let interface else { return [] }
        return [interface] + common.otherInterfaces
    }

    /// The router that packets are sent to; nil if the destination is on the link.
    public var gateway: IPAddress? {
        get { common.gateway }
        set { common.gateway = newValue }
    }

    /// The source address of the packets.
    public var source: IPAddress? {
        get { common.source }
        set { common.source = newValue }
    }

    /// The routing table that contains the route: 254 is `main`, 255 is `local` (`ip-route(8)`). Nil if the kernel does
    /// not report it.
    ///
    /// For addresses of this machine Linux reports 254 until the first policy rule is added, and 255 afterwards.
    public var table: UInt32? {
        get { common.table }
        set { common.table = newValue }
    }

    /// A Boolean value that indicates whether the target is reachable over IPv4.
    public var supportsIPv4: Bool {
        get { common.supportsIPv4 }
        set { common.supportsIPv4 = newValue }
    }

    /// A Boolean value that indicates whether the target is reachable over IPv6.
    public var supportsIPv6: Bool {
        get { common.supportsIPv6 }
        set { common.supportsIPv6 = newValue }
    }

    /// The maximum packet size in bytes (MTU) of the route, or of the interface if the route has none; nil without a
    /// path.
    public var mtu: UInt32? {
        get { common.mtu }
        set { common.mtu = newValue }
    }
}
