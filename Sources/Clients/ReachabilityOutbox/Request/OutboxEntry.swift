/// What an outbox tells of a request it holds: nothing of it is secret.
public struct OutboxEntry: Hashable, Sendable, Identifiable {
    /// What is so of a request in an outbox.
    public enum State: String, Hashable, Sendable {
        /// It waits for its turn, for the network, or for the time the server named.
        case waiting
        /// A process is sending it, or ended while it did.
        case sending
        /// It was given up, and is kept until it is put in again or dropped.
        case dead
    }

    /// Its number: grows with each request that is put in, and is never used again.
    public let id: Int64
    /// The method.
    public let method: String
    /// Scheme, host and port of the URL, without the scheme's default port: `https://example.org`. Requests of one origin are sent one
    /// after the other.
    public let origin: String
    /// The host: what is asked about.
    public let host: String
    /// Requests of a higher priority are sent first.
    public let priority: Int
    /// What makes putting it in twice harmless; nil without.
    public let dedupeKey: String?
    /// The value of the header `Idempotency-Key`.
    public let idempotencyKey: String
    /// The bytes that count against ``OutboxOptions/maximumBytes``.
    public let size: Int
    /// When it was put in: time since 1970-01-01T00:00:00Z.
    public let enqueuedAt: Duration
    /// When it is thrown away unsent: time since 1970-01-01T00:00:00Z; nil for never.
    public let expiresAt: Duration?
    /// Not to be sent before, as the server said: time since 1970-01-01T00:00:00Z; nil for at once.
    public let notBefore: Duration?
    /// When whoever runs the outbox means to try again: time since 1970-01-01T00:00:00Z; nil for at the next occasion.
    public let nextTry: Duration?
    /// What the last try came to, or why it is dead, in a sender's words; nil before the first.
    public internal(set) var lastError: String?
    /// When it was given up: time since 1970-01-01T00:00:00Z; nil while it waits.
    public let diedAt: Duration?
    /// How often sending it has begun, but for what was no attempt (``OutboxResult/held(cause:)``).
    public internal(set) var attempts: Int
    /// Whether it waits or is being sent.
    public let state: State
}

extension OutboxEntry: CustomStringConvertible {
    /// For example `12: POST https://example.org, priority 0, 120 bytes, attempts 1, waiting`.
    public var description: String {
        "\(id): \(method) \(origin), priority \(priority), \(size) bytes, attempts \(attempts), \(state.rawValue)"
    }
}

/// What became of a request that was put in.
public enum OutboxAddition: Hashable, Sendable {
    /// It is stored, on the disk, and will be sent.
    case added(OutboxEntry)
    /// One with the same dedupe key is waiting; that one stays as it is, and the new one is not stored.
    case waiting(OutboxEntry)
    /// One with the same dedupe key was delivered less than ``OutboxOptions/dedupeWindow`` ago; the new one is not stored.
    case delivered
}
