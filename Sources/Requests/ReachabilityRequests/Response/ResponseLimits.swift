/// How much of an answer is kept in memory.
public struct ResponseLimits: Hashable, Sendable {
    /// The longest body, in bytes. A longer one is an error: where Content-Length says so, before a byte of it is read.
    public var body: Int
    /// How much is kept of a body whose head was refused, in bytes. The rest is not read.
    public var refusedBody: Int

    /// 16 MiB, and 64 KiB of what was refused.
    public init(body: Int = 16 << 20, refusedBody: Int = 64 << 10) {
        self.body = max(0, body)
        self.refusedBody = max(0, refusedBody)
    }
}
