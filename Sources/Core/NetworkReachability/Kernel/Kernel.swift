package import Dispatch
package import LinuxSupport
package import Netlink

/// Everything the library learns of the network, it learns through a kernel. Tests play it.
package protocol Kernel: Sendable {
    /// Opens a connection to one network namespace, that of the process where none is named.
    func connect() throws(NetlinkError) -> any KernelConnection

    /// The unicast default routes of the tables that rules lead to, by family and table.
    ///
    /// This walks tables, over sockets of its own. It stands here and not with the connection because nothing that happens
    /// again and again may do so.
    func defaultRoutes() throws(NetlinkError) -> [DefaultRoute]

    /// Runs `changed` on `queue` when the namespace may have been deleted or made again; nil where it has no name.
    func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation?
}

/// A connection to one network namespace for queries and events. Thread-safe.
///
/// Letting go of the connection closes its descriptors.
package protocol KernelConnection: KernelAnswering, AnyObject, Sendable {
    /// False once the namespace this was opened in is no longer the one it was opened by; holding on would keep a
    /// deleted namespace and its devices alive.
    var isCurrent: Bool { get }

    /// Begins to listen: `heard` runs on `queue` once for each burst of messages. A second call is a programming error.
    ///
    /// - Returns: The names of the groups that this kernel does not have.
    func listen(
        on queue: DispatchQueue,
        _ heard: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) -> [String]

    /// Whether events wait that the listener has not received yet. The last answers may contain their changes.
    var hasEvents: Bool { get }

    /// Whether events were read that the listener has not received yet.
    var isDelivering: Bool { get }

    /// Says which routes are to be heard of, from now on until it is said again or the connection is let go; nil for all.
    /// Every other message is heard of in any case.
    func setFilter(_ filter: RouteFilter?) throws(NetlinkError)

    /// Listens no more. `heard` may still run once if it is just starting.
    func stopListening()
}

extension KernelConnection {
    /// No events are read before the listener receives them.
    package var isDelivering: Bool { false }
}

/// The outside world of a monitor: the kernel, time and the name service, all of which tests can play.
package struct MonitorEnvironment: Sendable {
    package var kernel: any Kernel
    package var clock: any MonitorClock
    package var resolver: any HostResolver
    /// Whether the kernel drops messages about routes that lead to no target.
    package var filtersRoutes = true

    package init(kernel: any Kernel, clock: any MonitorClock, resolver: any HostResolver) {
        self.kernel = kernel
        self.clock = clock
        self.resolver = resolver
    }
}

/// The seam to time: tests advance it by hand.
package protocol MonitorClock: Sendable {
    /// Time that stands still while the machine sleeps (CLOCK_MONOTONIC).
    var monotonic: Duration { get }

    /// Time that goes on while the machine sleeps (CLOCK_BOOTTIME).
    var boot: Duration { get }

    /// Runs `action` once on `queue` after `delay`, unless cancelled before.
    func schedule(
        after delay: Duration,
        on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation

    /// Runs `action` once on `queue`, after what is there already.
    func soon(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void)

    /// Runs `action` on `queue` whenever the machine may have slept or its clock was set; nil where that cannot be known.
    func watchForSleep(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation?
}

extension MonitorClock {
    package func soon(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
        queue.async(execute: action)
    }
}

/// The seam to the name service.
package protocol HostResolver: Sendable {
    /// What this machine knows of a name without asking anybody: the hosts file, and `localhost` (RFC 6761). Empty when
    /// it knows nothing. Never waits for the network.
    func localAddresses(of name: String) -> [NameLookup.Address]

    /// Asks the name service and calls `completion` once, on a thread of the resolver's own.
    func resolve(
        _ name: String,
        _ completion: @escaping @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void
    )

    /// Where names are looked up now; nil where that is not known.
    var configuration: ResolverConfiguration? { get }

    /// Returns the answer of each server to a query for `name` within the limit; nil if no server can be queried. Blocks.
    func answers(
        of servers: [IPAddress],
        to name: String,
        within limit: Duration
    ) -> [NameServerQuestion.Answer]?

    /// Runs `changed` on `queue` whenever the name service's configuration changes; nil where that cannot be known.
    func watchConfiguration(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation?
}

extension HostResolver {
    package var configuration: ResolverConfiguration? { nil }

    package func answers(
        of servers: [IPAddress],
        to name: String,
        within limit: Duration
    ) -> [NameServerQuestion.Answer]? { nil }
}
