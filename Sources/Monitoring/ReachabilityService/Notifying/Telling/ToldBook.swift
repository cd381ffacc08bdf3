package import ReachabilityLedger

/// Keeps what is to be told, and to whom it was told. A value: it takes events in their order.
package protocol ToldBook: Sendable {
    /// What happens.
    associatedtype Event: Sendable

    init()

    /// The oldest first.
    var incidents: [Incident] { get }

    /// What was kept of an earlier run.
    mutating func restore(_ incidents: [Incident])

    /// What is watched from now on, and who is told.
    mutating func apply(_ configuration: ServiceConfiguration, at now: LedgerInstant)

    /// - Returns: Whether anything changed.
    mutating func take(_ event: Event) -> Bool

    /// Whether something is about to be known of an incident that may end it.
    ///
    /// - Parameter undecided: The targets of which a check is about to decide whether they are still down.
    func isUndecided(_ incident: Incident, _ undecided: Set<String>) -> Bool

    /// A courier begins to tell something.
    mutating func tries(_ notification: Notification, by courier: String)

    /// A courier has told something, or gave up telling it.
    mutating func told(_ notification: Notification, by courier: String)

    /// Lets go of incidents that need not be told of any more.
    ///
    /// - Parameter couriers: All there are, with the notifiers they belong to.
    mutating func settle(_ couriers: [String: NotifierSettings])
}

extension ToldBook {
    package func isUndecided(_ incident: Incident, _ undecided: Set<String>) -> Bool { false }
}

extension IncidentBook: ToldBook {
    package mutating func apply(_ configuration: ServiceConfiguration, at now: LedgerInstant) {
        apply(configuration.targets, configuration.notifiers, at: now)
    }
}
