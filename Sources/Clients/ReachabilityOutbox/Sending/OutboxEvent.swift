/// What happened to a request, for whoever runs the outbox. What is thrown away or given up is told before it is: a process that is
/// killed in between tells it twice.
public enum OutboxEvent: Hashable, Sendable {
    /// The server has done it.
    case delivered(OutboxEntry)
    /// It could not be delivered, and stays; ``OutboxEntry/lastError`` says why.
    case postponed(OutboxEntry)
    /// It was no attempt, and it stays (``OutboxResult/held(cause:)``); ``OutboxEntry/lastError`` says why.
    case held(OutboxEntry)
    /// It is given up, and becomes a dead letter.
    case rejected(OutboxEntry, reason: String)
    /// Its time was over before it was delivered; it is deleted.
    case expired(OutboxEntry)
    /// It makes room for another, and is deleted.
    case dropped(OutboxEntry)
    /// ``Outbox/flush(sender:coordinator:report:)`` leaves so many requests of an origin alone.
    case skipped(origin: String, count: Int, OutboxSkip)
}

/// Why nothing is sent to an origin now.
public enum OutboxSkip: Hashable, Sendable {
    /// Its host is not reachable; `reason` says why, where that is known.
    case notReachable(reason: String?)
    /// Its server asked to be left alone until then: time since 1970-01-01T00:00:00Z.
    case until(Duration)
    /// The one before them was not delivered, and they keep their order.
    case behind(OutboxEntry.ID)
}
