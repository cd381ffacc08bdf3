package import ReachabilityFleet

/// The log of the service on this machine, as the agent reads it. Everything blocks.
package protocol EventSource: Sendable {
    /// The events after a place.
    ///
    /// - Parameters:
    ///   - position: Nil for all that are kept.
    ///   - waiting: Whether to wait half a minute for the first of them, where there is none.
    func events(after position: EventPosition?, waiting: Bool) throws(EventLogError) -> EventPage

    /// The outages that lasted at or after a moment, the oldest first.
    func outages(since wall: Duration) throws(EventLogError) -> [DeviceOutage]

    /// Does what somebody has asked for.
    func answer(_ command: DeviceCommand) -> DeviceAnswer
}

package enum EventLogError: Error, Hashable, Sendable {
    /// What came after that place is not kept.
    case gone
    /// The service does not answer, or says something else; the text says what, and what to do.
    case unavailable(String)
}
