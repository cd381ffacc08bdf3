import LinuxSupport

/// The path packets to a target would take at one moment, or why there is none. A value: it does not change by itself.
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

    /// What the paths of many targets may have in common.
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
