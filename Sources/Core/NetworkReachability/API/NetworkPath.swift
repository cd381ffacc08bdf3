import LinuxSupport

/// The path of packets to a target at one moment, or the reason that there is none. A value: it does not change.
public struct NetworkPath: Hashable, Sendable {
    /// Held together with the paths of other targets that have the same.
    private(set) var shared: SharedValue<Common>

    /// The address that was looked up and decided. For the network at large one of the addresses that stand for it, for
    /// a name one of its addresses; nil when there was nothing to look up.
    public var destination: IPAddress?

    /// Whether the status changes all the time: ``flappingChanges`` times within ``flappingWindow``, until it has not changed
    /// for as long. Changes count while somebody listens to the target, as a listener without a ``SettlePolicy`` hears them.
    public var isFlapping = false

    /// Grows by one with each change of the path, as seen by this process; starts with 1.
    public var generation: UInt64 = 0

    package init(flags: NetworkReachabilityFlags? = nil, reason: UnsatisfiedReason? = nil) {
        self.init(SharedValue(Common(flags: flags, reason: reason)), to: nil)
    }

    init(_ common: SharedValue<Common>, to destination: IPAddress?) {
        shared = common
        self.destination = destination
    }

    /// The status the flags stand for.
    public var status: NetworkReachabilityStatus { NetworkReachabilityStatus(flags) }

    /// Whether packets leave over a wireless wide area network, which often costs money by the byte.
    public var isExpensive: Bool { flags?.contains(.isWWAN) ?? false }

    /// Whether everything is the same but the generation, and how often the carrier was lost before.
    package func isSame(as other: NetworkPath) -> Bool {
        var other = other
        other.generation = generation
        if other.carrierLosses != carrierLosses { other.carrierLosses = carrierLosses }
        return self == other
    }

    /// The properties that the paths of several targets may share.
    var common: Common {
        get { shared.value }
        set { shared = SharedValue(newValue) }
    }
}

extension NetworkPath: CustomStringConvertible {
    /// For example `reachable (ethernet or Wi-Fi), interface eth0, gateway 192.0.2.1, source 192.0.2.7`.
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
    /// So many changes of the status within ``flappingWindow`` are flapping: three losses with their returns. A
    /// replugged cable makes two, a switch that starts two or four.
    public static let flappingChanges = 6

    /// The time within which changes of the status count for ``isFlapping``, and without any after which it ends: one
    /// minute.
    public static let flappingWindow: Duration = .seconds(60)
}

/// A value that many hold together, because it is large or there are many of them.
final class SharedValue<Value: Hashable & Sendable>: Hashable, Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }

    static func == (one: SharedValue, other: SharedValue) -> Bool { one === other || one.value == other.value }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// The keys and values of the command's JSON output, schema 1: keys may be added, none is renamed or taken away.
extension NetworkPath: Codable {
    private enum Key: String, CodingKey {
        case schema, status, connectionType, flags, interface, interfaceType, gateway, source, reason, generation
        case underlyingInterfaces, destination, supportsIPv4, supportsIPv6, flapping
        // Beside those of the command: what makes the decoded path the same as the encoded one.
        case interfaces, table, mtu
    }

    /// Writes all of it but the time, the target and the namespace, which a path does not have.
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

    /// Reads what ``encode(to:)`` wrote, and the lines of the command. Keys that are not known are passed over.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let schema = try container.decodeIfPresent(Int.self, forKey: .schema) ?? 1
        guard schema == 1 else {
            let text = "schema \(schema) is not known: this version reads schema 1"
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
    /// Writes its text, with its zone.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Reads the text of an address.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let address = IPAddress(text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\"\(text.printable)\" is no IP address"
            )
        }
        self = address
    }
}

extension NetworkReachabilityFlags {
    /// The flags with these names; others are passed over.
    fileprivate init(names: [String]) {
        self = Self.known.reduce(into: []) { if names.contains($1.1) { $0.insert($1.0) } }
    }
}

extension NetworkPath {
    /// The properties that the paths of several targets may share.
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
        /// Beside `interface`.
        var otherInterfaces: [NetworkInterface] = []
        /// How often the link that packets leave by, or the one below it, has lost its carrier.
        var carrierLosses: UInt32 = 0
    }

    /// How often the interface, or the device that it runs over, has lost its carrier, as the driver counted. If the number has grown and the
    /// path is the same, the path was away in between.
    package var carrierLosses: UInt32 {
        get { common.carrierLosses }
        set { common.carrierLosses = newValue }
    }

    /// How often the carrier was lost, and was back, between two paths that are there and leave by the same interface.
    package func carrierLosses(since last: NetworkPath) -> UInt32 {
        guard status.isReachable, last.status.isReachable, interface?.index == last.interface?.index else { return 0 }
        return carrierLosses &- last.carrierLosses
    }

    /// The flags in Apple's terms; nil while the status is unknown.
    public var flags: NetworkReachabilityFlags? {
        get { common.flags }
        set { common.flags = newValue }
    }

    /// Why the target is not reachable or unknown; nil when it is reachable.
    public var reason: UnsatisfiedReason? {
        get { common.reason }
        set { common.reason = newValue }
    }

    /// The interface packets leave through, or the one that stands in the way: without carrier, down or dormant.
    public var interface: NetworkInterface? {
        get { common.interface }
        set { common.interface = newValue }
    }

    /// The interfaces that packets may leave through, ``interface`` first: those of IPv4 and of IPv6 may be others, and so may those of
    /// the addresses of one name. Empty where the target is not reachable. As `NWPath.availableInterfaces`.
    public var availableInterfaces: [NetworkInterface] {
        guard status.isReachable, let interface else { return [] }
        return [interface] + common.otherInterfaces
    }

    /// The router packets are sent to; nil when the destination is on the link itself.
    public var gateway: IPAddress? {
        get { common.gateway }
        set { common.gateway = newValue }
    }

    /// The source address packets get.
    public var source: IPAddress? {
        get { common.source }
        set { common.source = newValue }
    }

    /// The routing table the route was found in, where the kernel says: 254 is `main`, 255 `local` (`ip-route(8)`).
    /// For addresses of this machine Linux says 254 until a policy rule has been added for the first time, then 255.
    public var table: UInt32? {
        get { common.table }
        set { common.table = newValue }
    }

    /// Whether the target can be reached over IPv4.
    public var supportsIPv4: Bool {
        get { common.supportsIPv4 }
        set { common.supportsIPv4 = newValue }
    }

    /// Whether the target can be reached over IPv6.
    public var supportsIPv6: Bool {
        get { common.supportsIPv6 }
        set { common.supportsIPv6 = newValue }
    }

    /// The largest packet that the route, or else the interface, takes, in bytes (MTU); nil without a path.
    public var mtu: UInt32? {
        get { common.mtu }
        set { common.mtu = newValue }
    }
}
