package import Dispatch
package import LinuxSupport
package import Netlink

/// The interface to the kernel, the only source of information about the network. Tests replace it.
package protocol Kernel: Sendable {
    /// Opens a connection to one network namespace, by default that of the process.
    func connect() throws(NetlinkError) -> any KernelConnection

    /// Returns the unicast default routes of the tables that rules refer to, by family and table.
    ///
    /// The function dumps whole tables through separate sockets. It is not part of ``KernelConnection``, because
    /// repeated work must not dump tables.
    func defaultRoutes() throws(NetlinkError) -> [DefaultRoute]

    /// Calls `changed` on `queue` when the namespace may have been deleted or created again. Returns nil for a
    /// namespace without a name.
    func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation?
}

/// A connection to one network namespace for queries and events. Thread-safe. Releasing the connection closes its
/// descriptors.
package protocol KernelConnection: KernelResponder, AnyObject, Sendable {
    /// A Boolean value that indicates whether the namespace is still the one in which the connection was opened. If
    /// false, release the connection, because its sockets keep a deleted namespace and its devices alive.
    var isCurrent: Bool { get }

    /// Starts to listen for events. Calls `received` on `queue` once per burst of messages. May be called only once.
    ///
    /// - Returns: The names of the multicast groups that this kernel does not support.
    func listen(
        on queue: DispatchQueue,
        _ received: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) -> [String]

    /// A Boolean value that indicates whether events are waiting that the listener has not received. The last answers
    /// may already include their changes.
    var hasEvents: Bool { get }

    /// A Boolean value that indicates whether events were read that the listener has not received.
    var isDelivering: Bool { get }

    /// Sets the filter of route messages. It applies until the next call or until the connection is released; nil
    /// passes all route messages. All other messages always pass.
    func setFilter(_ filter: RouteFilter?) throws(NetlinkError)

    /// Stops listening. A call of `received` that is about to start may still run.
    func stopListening()
}

extension KernelConnection {
    /// Always false, because no event is read before the listener receives it.
    package var isDelivering: Bool { false }
}

/// The environment of a monitor: the kernel, the clock and the name service. Tests can replace each of them.
package struct MonitorEnvironment: Sendable {
    package var kernel: any Kernel
    package var clock: any MonitorClock
    package var resolver: any HostResolver
    /// A Boolean value that indicates whether the kernel drops messages about routes that concern no target.
    package var filtersRoutes = true

    package init(kernel: any Kernel, clock: any MonitorClock, resolver: any HostResolver) {
        self.kernel = kernel
        self.clock = clock
        self.resolver = resolver
    }
}

/// A source of time. Tests replace it by a clock that they advance.
package protocol MonitorClock: Sendable {
    /// The time that does not advance while the machine sleeps (CLOCK_MONOTONIC).
    var monotonic: Duration { get }

    /// The time that also advances while the machine sleeps (CLOCK_BOOTTIME).
    var boot: Duration { get }

    /// Runs `action` once on `queue` after `delay`, unless it is cancelled before.
    func schedule(
        after delay: Duration,
        on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation

    /// Runs `action` once on `queue`, after the blocks that are already queued.
    func enqueue(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void)

    /// Calls `action` on `queue` whenever the machine may have slept or its clock was set. Returns nil if this cannot
    /// be detected.
    func watchForSleep(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation?
}

extension MonitorClock {
    package func enqueue(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
        queue.async(execute: action)
    }
}

/// A name service. Tests replace it.
package protocol HostResolver: Sendable {
    /// Returns the addresses of a name that are known without a query: those in the hosts file and `localhost` (RFC
    /// 6761). Empty if there are none. Never waits for the network.
    func localAddresses(of name: String) -> [NameLookup.Address]

    /// Queries the name service and calls `completion` once, on a thread of the resolver.
    func resolve(
        _ name: String,
        _ completion: @escaping @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void
    )

    /// The current configuration of the name service; nil if it is not known.
    var configuration: ResolverConfiguration? { get }

    /// Returns the answer of each server to a query for `name` within the limit, or nil if no server can be queried.
    /// Blocks.
    func answers(
        of servers: [IPAddress],
        to name: String,
        within limit: Duration
    ) -> [NameServerQuery.Answer]?

    /// Calls `changed` on `queue` whenever the configuration of the name service changes. Returns nil if this cannot be
    /// detected.
    func watchConfiguration(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation?
}

extension HostResolver {
    package var configuration: ResolverConfiguration? { nil }

    package func answers(
        of servers: [IPAddress],
        to name: String,
        within limit: Duration
    ) -> [NameServerQuery.Answer]? { nil }
}
