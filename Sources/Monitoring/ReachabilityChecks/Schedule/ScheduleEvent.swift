import NetworkReachability

/// An event that a schedule processes.
enum ScheduleEvent: Hashable, Sendable {
    /// The kernel's path. Sent at the start and after each change.
    case path(CheckLine)
    /// The network announces a different captive portal API (RFC 8910).
    case portalChanged
    /// `resolv.conf(5)` has changed.
    case resolverChanged
    /// The machine resumed from suspension.
    case resumed
    /// The round has ended or was cancelled.
    case roundEnded(CheckVerdict, ProbeCost)
    /// The result of an observation.
    case observed(PassiveFinding)
    /// The timer has expired.
    case timer
}

/// An action that a schedule requests.
enum ScheduleAction: Hashable, Sendable {
    /// Send ``ScheduleEvent/timer`` at this time; nil for never. The action replaces an earlier time.
    case arm(Duration?)
    /// Query the kernel. No packet is sent.
    case observe
    /// Start a round. No other round is running.
    case run(RoundKind)
    /// Cancel the running round because its path has changed. Its end is still reported as an event.
    case cancelRound
    /// Notify a verdict that differs from the previous one.
    case notify(CheckVerdict)
    /// Report a success to a caller that waits for it.
    case answer(CheckVerdict)
}

/// The result of an observation of other programs' connections.
enum PassiveFinding: Hashable, Sendable {
    /// A host beyond the gateway answered on a connection. The value is the age of the answer.
    case fresh(age: Duration)
    /// No recent answer.
    case silent
    /// The gateway does not answer on the link, or connections stall.
    case trouble(ProbeReason)
}

/// The state of a schedule.
enum ScheduleState: Hashable, Sendable {
    case unknown
    /// The target works, possibly degraded.
    case works
    /// There may be a fault. Further rounds decide.
    case suspect
    case broken(CheckPlace)
    case portal
    case inconclusive

    init(_ place: CheckPlace) {
        self =
            switch place {
            case .works, .degraded: .works
            case .inconclusive: .inconclusive
            case .portal: .portal
            default: .broken(place)
            }
    }
}

/// The extent of a round.
enum RoundKind: Hashable, Sendable {
    /// A query to a DNS server behind the gateway, or if there is no such server, a packet to the second router. About two packets in total.
    case minimal
    /// A round that contacts only the local network.
    case `private`
    /// The private round, the target and one anchor: at most 4 kB.
    case brief
    /// The private round, the target and all anchors. Anchors follow after a delay, so that the machines of a network do not query them all
    /// at once.
    case full(anchorsAfter: Duration)
}

/// The kernel's facts about the line of a schedule.
struct CheckLine: Hashable, Sendable {
    /// The generation of the path. Results of another generation are void.
    var generation: UInt64
    /// The fault that the kernel reports without a packet; nil if packets may pass.
    var obstacle: CheckVerdict?
    /// True if the line is metered.
    var isMetered: Bool

    /// - Parameter isMetered: The user's setting. If nil, that of the interface.
    init(_ path: NetworkPath, isMetered: Bool? = nil) {
        generation = path.generation
        self.isMetered = isMetered ?? path.isExpensive
        let word = CheckJudge.judge(CheckEvidence(path: path, generation: path.generation))
        // A name that does not resolve is not an obstacle. Probes find the reason.
        obstacle = word.failurePoint == .thisMachine || word.failurePoint == .link ? word : nil
    }
}
