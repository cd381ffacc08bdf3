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
