package import LinuxSupport
public import Logging
import Netlink

/// How to watch. Every option has a default that suits a program on an ordinary machine.
public struct NetworkReachabilityOptions: Sendable {
    /// Where to log: each change of a path with its reason at `debug`, trouble with the kernel at `warning`. Nothing is logged without
    /// one. The managers of a namespace share a monitor: the first of them decides where it logs.
    public var logger: Logger?

    /// The network namespace to watch; that of the process by default.
    public var networkNamespace: NetworkNamespace = .current

    /// The mark the packets will carry, for rules that match it (SO_MARK, `socket(7)`; `fwmark` in `ip-rule(8)`);
    /// 0 for none.
    public var firewallMark: UInt32 = 0

    /// The interface or VRF that packets will be bound to (SO_BINDTODEVICE, `socket(7)`), by name or index; nil for none.
    ///
    /// The routes are then those that lead through this interface or, of a VRF and of its ports, those of the VRF's table.
    /// Every question looks the name up again: while there is no such interface the target is not reachable for the reason
    /// ``NetworkPath/UnsatisfiedReason/noInterface``. An address that has a zone is meant on that one whatever is said here. Host
    /// names are resolved by the C library, whose questions are not bound.
    ///
    /// IPv4 takes whatever no route of the interface leads to for a neighbour. That counts only where packets need
    /// no neighbour's hardware address, as on a tunnel; elsewhere the reason is ``NetworkPath/UnsatisfiedReason/noRoute``.
    ///
    /// Where none is given, and the namespace is the current one, it is what the process's own sockets are bound to when they
    /// are made, as under `ip vrf exec` (`ip-vrf(8)`). This is read once in a process.
    public var interface: String?

    /// The source address that packets will be bound to (`bind(2)`); nil for the kernel's choice. Only addresses of its family count.
    ///
    /// Rules on the source decide then which routes there are. While the address is none of this machine's, or still tentative, the
    /// target is not reachable for the reason ``NetworkPath/UnsatisfiedReason/noSourceAddress``.
    public var sourceAddress: IPAddress?

    /// The only type of interface that packets may leave through; nil for all. As `NWPathMonitor(requiredInterfaceType:)`.
    ///
    /// The path is the one the kernel would choose; where that leads through another interface, the target is not reachable for the
    /// reason ``NetworkPath/UnsatisfiedReason/interfaceNotAllowed``. Bind to an ``interface`` to have the others left aside.
    public var requiredInterfaceType: InterfaceType?

    /// Types of interfaces that packets may not leave through. As `NWPathMonitor(prohibitedInterfaceTypes:)`.
    public var prohibitedInterfaceTypes: Set<InterfaceType> = []

    /// What sockets of the process are bound to: the default of ``interface``.
    package var boundInterface = SocketBinding.ofNewSockets

    /// The family that counts; nil for both.
    package var family: AddressFamily?

    /// The public addresses that stand for the network at large: it is reachable when the majority of those of one family
    /// are. Only the kernel's routes to them are asked for; no packet is sent. Give the addresses your users need if that
    /// is not the internet: a data centre's routers, for example.
    public var addressesAtLarge: [IPAddress] = AtLarge.addresses

    /// How long the first synchronous question about a host name may block the caller until the name has been resolved.
    /// Address literals and names in the hosts file never wait. When the time is up the status is unknown, and the name goes on
    /// being resolved in the background. Zero never waits.
    public var nameResolutionWait: Duration = .seconds(2)

    /// How often a host name is resolved again while nothing changes. It is also resolved after changes of the network and
    /// of the name service's configuration, at most once a second, and after failures with growing pauses up to a minute.
    public var nameRefreshInterval: Duration = .seconds(300)

    /// Whether the kernel leaves out messages of routes that lead to no target, so that they cost this process nothing
    /// (SO_ATTACH_FILTER, `socket(7)`). Answers are the same without; it is a switch for the case that a kernel's filters
    /// are not to be trusted. Where the kernel refuses a filter, all messages are heard, and the log says so once.
    public var filtersRouteMessages = true

    /// Every option at its default.
    public init() {}
}

/// The parts of a path whose changes are reported to a listener, for example `[.status, .reason]`.
public struct NetworkReachabilityInterest: OptionSet, Hashable, Sendable {
    /// One bit for each part.
    public let rawValue: UInt8

    /// Takes any set of bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The status, ``NetworkPath/status``.
    public static let status = NetworkReachabilityInterest(rawValue: 1 << 0)

    /// The flags, ``NetworkPath/flags``, which include the status.
    public static let flags = NetworkReachabilityInterest(rawValue: 1 << 1)

    /// The status, and how packets leave: interface, gateway and source. Not the reason.
    public static let egress = NetworkReachabilityInterest(rawValue: 1 << 2)

    /// Why there is no path, ``NetworkPath/reason``: one that takes the place of another is a change although the status stays.
    public static let reason = NetworkReachabilityInterest(rawValue: 1 << 3)

    /// Anything of the path: flags, reason, interface, gateway, source and the rest.
    public static let path = NetworkReachabilityInterest(rawValue: 1 << 4)

    /// A carrier that was lost and is back before the kernel reported the loss: the path is the same as before.
    package static let carrier = NetworkReachabilityInterest(rawValue: 1 << 7)
}

extension NetworkReachabilityInterest {
    /// Whether `path` is a change for a listener whose last reported path is `last`.
    func isChange(_ path: NetworkPath, after last: NetworkPath) -> Bool {
        contains(.status) && path.status != last.status
            || contains(.flags) && path.flags != last.flags
            || contains(.egress) && leaves(path, otherwiseThan: last)
            || contains(.reason) && path.reason != last.reason
            || contains(.path) && !path.isSame(as: last)
            || contains(.carrier) && path.carrierLosses(since: last) > 0
    }

    /// Whether the interest contains only the status and its flags, not the reason.
    var isOfStatus: Bool { isSubset(of: [.status, .flags]) }

    private func leaves(_ path: NetworkPath, otherwiseThan last: NetworkPath) -> Bool {
        path.status != last.status || path.interface != last.interface || path.gateway != last.gateway
            || path.source != last.source
    }
}

/// Whether a change is reported at once, or only after it has lasted. Each subscription has its own policy.
///
/// No policy delays the first state, nor what follows ``NetworkReachabilityStatus/unknown``, for that is the first thing
/// known. Time counts while the machine is awake (CLOCK_MONOTONIC). When the time is up the kernel is asked once more, so
/// what is notified is so at that moment. Only the latest state is kept meanwhile, and no timer runs while nothing is waited for.
///
/// A target that flaps faster than a policy waits never settles. That is not hidden: ``NetworkPath/isFlapping`` is notified at
/// once under every policy, to those interested in the whole path (``NetworkReachabilityInterest/path``).
public enum SettlePolicy: Hashable, Sendable {
    /// Every change, at once.
    case immediate

    /// A change that has held for so long. What is a change is up to the subscription's ``NetworkReachabilityInterest``:
    /// another change begins the wait anew, and a return to what was notified last is no change. Zero and less is
    /// ``immediate``.
    case settled(for: Duration)
}

extension SettlePolicy {
    /// How long a change has to last; nil for not at all.
    var duration: Duration? {
        if case .settled(let duration) = self, duration > .zero { duration } else { nil }
    }
}
