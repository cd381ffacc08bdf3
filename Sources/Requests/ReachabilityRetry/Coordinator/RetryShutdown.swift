/// How a coordinator ends.
public enum RetryShutdown: Hashable, Sendable {
    /// What is under way goes on to its own end; nothing new begins.
    case drain
    /// Attempts under way are cancelled, and nobody waits any longer.
    case cancel
}
