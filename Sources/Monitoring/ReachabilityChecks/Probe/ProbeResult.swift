/// What a probe has put on the wire and taken from it, headers of IP included.
public struct ProbeCost: Hashable, Sendable, Codable {
    /// Sent and received.
    public var packets: Int
    /// Sent and received.
    public var bytes: Int

    /// Nothing, unless said otherwise.
    public init(packets: Int = 0, bytes: Int = 0) {
        self.packets = packets
        self.bytes = bytes
    }

    /// Both together.
    public static func + (one: ProbeCost, other: ProbeCost) -> ProbeCost {
        ProbeCost(packets: one.packets + other.packets, bytes: one.bytes + other.bytes)
    }
}

/// How one probe went.
package struct ProbeResult: Hashable, Sendable {
    package var request: ProbeRequest
    /// Of the path when the probe began; a result of an older path is void.
    package var generation: UInt64
    /// Only phases that ended. What did not happen took no time, not the time 0.
    package var phases: [ProbePhase: Duration] = [:]
    package var failedPhase: ProbePhase?
    package var outcome: ProbeOutcome
    package var evidence = ProbeEvidence()
    package var cost = ProbeCost()

    package init(_ request: ProbeRequest, generation: UInt64, _ outcome: ProbeOutcome) {
        self.request = request
        self.generation = generation
        self.outcome = outcome
    }
}
