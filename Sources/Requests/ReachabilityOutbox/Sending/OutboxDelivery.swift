/// A request that is to be sent now.
public struct OutboxDelivery: Sendable {
    /// The request, with the header `Idempotency-Key` among its headers.
    public let request: OutboxRequest
    /// What the outbox knows of it; ``OutboxEntry/attempts`` counts this one.
    public let entry: OutboxEntry
}

extension OutboxDelivery: CustomStringConvertible {
    /// What ``OutboxEntry`` tells.
    public var description: String { entry.description }
}
