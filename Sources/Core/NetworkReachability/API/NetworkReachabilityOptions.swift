package import LinuxSupport
public import Logging
import Netlink

/// The options of a manager or monitor. The defaults suit a program on an ordinary machine.
public struct NetworkReachabilityOptions: Sendable {
    /// The logger; nil disables logging. Each change of a path is logged at `debug` with its reason, and failures of
    /// kernel queries at `warning`.
    ///
    /// The managers of a network namespace share one monitor. The monitor uses the logger of the first manager.
    public var logger: Logger?

    /// The network namespace to watch. The default is the network namespace of the process.
    public var networkNamespace: NetworkNamespace = .current

    /// The firewall mark of the packets, which policy rules can match (SO_MARK, `socket(7)`; `fwmark` in `ip-rule(8)`).
    /// 0 means no mark.
    public var firewallMark: UInt32 = 0

    /// The name or index of the interface or VRF that the packets are bound to (SO_BINDTODEVICE, `socket(7)`); nil if
    /// they are not bound.
    ///
    /// Only routes through this interface are used. For a VRF or one of its ports, only routes of the VRF's table are
    /// used. An address with a zone is bound to its zone instead. Host names are resolved by the C library, whose
    /// queries are not bound.
    ///
    /// The name is resolved again for each query. If the interface does not exist, the target is not reachable for the
    /// reason ``NetworkPath/UnsatisfiedReason/noInterface``.
    ///
    /// For IPv4 the kernel treats an address without a matching route as directly connected to the bound interface.
    /// This library accepts that only for interfaces that need no link-layer address of a neighbour, such as tunnels.
    /// For other interfaces the reason is ``NetworkPath/UnsatisfiedReason/noRoute``.
    ///
    /// If nil, and the network namespace is the current one, the value is the device to which new sockets of the
    /// process are bound automatically, as under `ip vrf exec` (`ip-vrf(8)`). It is determined once per process.
    public var interface: String?

    /// The source address that the packets are bound to (`bind(2)`). If nil, the kernel selects one. Only target
    /// addresses of its family are evaluated.
    ///
    /// Policy rules that match the source apply to this address. If the address is not assigned to this machine, or is
    /// still tentative (RFC 4862), the target is not reachable for the reason
    /// ``NetworkPath/UnsatisfiedReason/noSourceAddress``.
    public var sourceAddress: IPAddress?

    /// The only interface type through which packets may leave; nil permits all types. Corresponds to
    /// `NWPathMonitor(requiredInterfaceType:)`.
    ///
    /// The option does not influence the kernel's choice of the route. If the chosen route leads through an interface
    /// of another type, the target is not reachable for the reason
    /// ``NetworkPath/UnsatisfiedReason/interfaceNotAllowed``. To ignore other interfaces, set ``interface``.
    public var requiredInterfaceType: InterfaceType?

    /// The interface types through which packets may not leave. Corresponds to
    /// `NWPathMonitor(prohibitedInterfaceTypes:)`.
    public var prohibitedInterfaceTypes: Set<InterfaceType> = []

    /// The device to which new sockets of the process are bound, the default of ``interface``.
    package var boundInterface = SocketBinding.ofNewSockets

    /// The only address family to evaluate; nil for both.
    package var family: AddressFamily?

    /// The public addresses that represent the network in general. General reachability holds if the majority of the
    /// addresses of one family has a path.
    ///
    /// Only the kernel's routes to these addresses are looked up. No packet is sent to them. If your users need a
    /// private network instead of the internet, set addresses in that network, for example the routers of a data
    /// centre.
    public var addressesAtLarge: [IPAddress] = GeneralAddresses.all

    /// The maximum time that the first synchronous query for a host name waits for the name service. The default is 2
    /// seconds. Zero disables waiting.
    ///
    /// Address literals and names in the hosts file never wait. After the timeout the status is unknown, and the
    /// resolution continues in the background.
    public var nameResolutionWait: Duration = .seconds(2)

    /// The interval after which a host name is resolved again if nothing changes. The default is 300 seconds.
    ///
    /// A name is also resolved again after changes of the network or of the name service's configuration, at most once
    /// per second. After a failure the pauses grow up to one minute.
    public var nameRefreshInterval: Duration = .seconds(300)

    /// A Boolean value that indicates whether the kernel drops route messages that concern no target, so that these
    /// messages cost the process nothing (SO_ATTACH_FILTER, `socket(7)`). The default is true.
    ///
    /// The results are the same without the filter. Set this option to false if the kernel's socket filters do not work
    /// correctly. If the kernel rejects a filter, the process receives all messages, and a warning is logged once.
    public var filtersRouteMessages = true

    /// Creates options with default values.
    public init() {}
}

/// The parts of a path whose changes are reported to a listener, for example `[.status, .reason]`.
public struct NetworkReachabilityInterest: OptionSet, Hashable, Sendable {
    /// The bits, one for each part.
    public let rawValue: UInt8

    /// Creates a set from any bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The status: ``NetworkPath/status``.
    public static let status = NetworkReachabilityInterest(rawValue: 1 << 0)

    /// The flags: ``NetworkPath/flags``. A change of the status is always a change of the flags.
    public static let flags = NetworkReachabilityInterest(rawValue: 1 << 1)

    /// The status, the interface, the gateway and the source address. Not the reason.
    public static let egress = NetworkReachabilityInterest(rawValue: 1 << 2)

    /// The reason: ``NetworkPath/reason``. A new reason is a change even if the status stays the same.
    public static let reason = NetworkReachabilityInterest(rawValue: 1 << 3)

    /// Any part of the path: flags, reason, interface, gateway, source address and all other properties.
    public static let path = NetworkReachabilityInterest(rawValue: 1 << 4)

    /// A loss of carrier that ended before the kernel reported it. The path before and after the loss is the same.
    package static let carrier = NetworkReachabilityInterest(rawValue: 1 << 7)
}

extension NetworkReachabilityInterest {
    /// Returns whether `path` is a change for a listener that last received `last`.
    func isChange(_ path: NetworkPath, after last: NetworkPath) -> Bool {
        contains(.status) && path.status != last.status
            || contains(.flags) && path.flags != last.flags
            || contains(.egress) && egressDiffers(path, from: last)
            || contains(.reason) && path.reason != last.reason
            || contains(.path) && !path.isSame(as: last)
            || contains(.carrier) && path.carrierLosses(since: last) > 0
    }

    /// A Boolean value that indicates whether the interest contains only the status and the flags.
    var isOfStatus: Bool { isSubset(of: [.status, .flags]) }

    private func egressDiffers(_ path: NetworkPath, from last: NetworkPath) -> Bool {
        path.status != last.status || path.interface != last.interface || path.gateway != last.gateway
            || path.source != last.source
    }
}

/// The policy that decides whether a change is reported at once or after it has lasted for a time.
///
/// Each subscription has its own policy.
///
/// No policy delays the first state. The state that follows ``NetworkReachabilityStatus/unknown`` is not delayed
/// either, because it is the first known state.
///
/// The time advances only while the machine is awake (CLOCK_MONOTONIC). At the end of the wait the kernel is queried
/// again, so the reported state is current. During the wait only the latest state is kept. A timer runs only while a
/// change is waiting.
///
/// A target that flaps faster than the time of the policy never settles. Therefore changes of
/// ``NetworkPath/isFlapping`` are reported at once under every policy, to listeners of the whole path
/// (``NetworkReachabilityInterest/path``).
public enum SettlePolicy: Hashable, Sendable {
    /// Reports every change at once.
    case immediate

    /// Reports a change after it has lasted for this time.
    ///
    /// The ``NetworkReachabilityInterest`` of the subscription defines which differences are changes. Another change
    /// restarts the wait. A return to the last reported state ends the wait without a report. Zero or a negative
    /// duration is the same as ``immediate``.
    case settled(for: Duration)
}

extension SettlePolicy {
    /// The time that a change must last; nil if changes are reported at once.
    var duration: Duration? {
        if case .settled(let duration) = self, duration > .zero { duration } else { nil }
    }
}
