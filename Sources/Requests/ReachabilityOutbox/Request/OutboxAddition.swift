/// What became of a request that was put in.
public enum OutboxAddition: Hashable, Sendable {
    /// It is stored, on the disk, and will be sent.
    case added(OutboxEntry)
    /// One with the same dedupe key is waiting; that one stays as it is, and the new one is not stored.
    case waiting(OutboxEntry)
    /// One with the same dedupe key was delivered less than ``OutboxOptions/dedupeWindow`` ago; the new one is not stored.
    case delivered
}
