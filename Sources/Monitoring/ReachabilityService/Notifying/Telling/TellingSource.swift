package import LinuxSupport
import NetworkReachability
package import ReachabilityLedger

/// Where that happens which is told.
package struct TellingSource<Event: Sendable>: Sendable {
    /// The time by which incidents are told.
    let now: @Sendable () -> LedgerInstant
    /// CLOCK_REALTIME, since 1970.
    let real: @Sendable () -> Duration
    /// What measures how long something lasts before it is told.
    let clock: any MonitorClock
    /// The targets of which a check is about to decide whether they are still down.
    let undecided: @Sendable () -> Set<String>
    /// Has a listener called with what happens from now on, in order, and with what became meanwhile of the incidents that an earlier
    /// run has left.
    let follow: @Sendable (_ known: [Incident], _ listener: @escaping @Sendable ([Event]) -> Void) -> Cancellation?

    package init(
        now: @escaping @Sendable () -> LedgerInstant,
        clock: ServiceClock,
        undecided: @escaping @Sendable () -> Set<String> = { [] },
        follow: @escaping @Sendable ([Incident], @escaping @Sendable ([Event]) -> Void) -> Cancellation?
    ) {
        (self.now, self.undecided, self.follow) = (now, undecided, follow)
        (real, self.clock) = (clock.real, clock.monitor)
    }
}

/// Where it is written down what was told.
package struct TellingMemory: Sendable {
    /// For whoever reads that it cannot be written.
    let name: String
    /// Whether there is one at the moment.
    let isThere: @Sendable () -> Bool
    /// What an earlier run has left, the oldest first.
    let read: @Sendable () throws -> [Incident]
    /// Writes incidents in place of those that were written before: they are on the disk when it returns.
    let write: @Sendable (_ incidents: [Incident], _ before: [Incident]) throws -> Void

    package init(
        name: String,
        isThere: @escaping @Sendable () -> Bool = { true },
        read: @escaping @Sendable () throws -> [Incident],
        write: @escaping @Sendable ([Incident], [Incident]) throws -> Void
    ) {
        (self.name, self.isThere, self.read, self.write) = (name, isThere, read, write)
    }
}
