/// One link of the chain behind the kernel's: what a check found there.
public struct CheckStep: Hashable, Sendable {
    /// What a step is about, near to far. The raw value is the name in JSON output.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case gateway, hop, dns, anchor, portal, host, tls, service, verdict
    }

    /// How a step stands. The raw value is the name in JSON output.
    public enum State: String, Hashable, Sendable, CaseIterable {
        case ok, broken, notReached, informational
    }

    /// What it is about.
    public var kind: Kind
    /// How it stands; at most one step before the verdict is broken.
    public var state: State
    /// What was found, in a few words for people, safe to print.
    public var summary: String
}
