/// What happened to a request, for whoever runs the outbox.
public enum OutboxEvent: Hashable, Sendable {
    /// The server has done it.
    case delivered(OutboxEntry)
    /// It could not be delivered, and stays.
    case postponed(OutboxEntry)
    /// It was given up and deleted.
    case rejected(OutboxEntry, reason: String)
    /// Its time was over before it was delivered; it was deleted.
    case expired(OutboxEntry)
}
