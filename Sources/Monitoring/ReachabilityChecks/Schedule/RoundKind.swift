package import NetworkReachability

/// How much one round of probes asks.
package enum RoundKind: Hashable, Sendable {
    /// One question to a DNS server behind the gateway, else one packet that dies at the second router: two packets.
    case cheap
    /// Nobody is asked whom the user has not configured.
    case `private`
    /// The private round, the target, and a single anchor: at most 4 kB.
    case brief
    /// The private round, the target, and all anchors, these so much later: not every machine that a switch brings back asks at once.
    case full(anchorsAfter: Duration)
}

/// What the kernel says of the line that is checked.
package struct CheckLine: Hashable, Sendable {
    /// Of the path; what was found out about another is void.
    package var generation: UInt64
    /// What is broken for sure, without a packet; nil where packets may get through.
    package var obstacle: CheckVerdict?
    /// Whether bytes cost money.
    package var isMetered: Bool

    /// - Parameter isMetered: what the user says of it; nil for what the interface suggests.
    package init(_ path: NetworkPath, isMetered: Bool? = nil) {
        generation = path.generation
        self.isMetered = isMetered ?? path.isExpensive
        let word = CheckJudge.judge(CheckEvidence(path: path, generation: path.generation))
        // Why a name is not found is for probes to tell.
        obstacle = word.place == .thisMachine || word.place == .link ? word : nil
    }
}
