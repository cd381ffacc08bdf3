import NetworkReachability

/// An event of a schedule.
enum ScheduleEvent: Hashable, Sendable {
    /// The kernel's path, at first and after each change.
    case path(CheckLine)
    /// The network announces another captive portal API (RFC 8910).
    case portalChanged
    /// `resolv.conf(5)` has changed.
    case resolverChanged
    /// The machine woke from sleep.
    case resumed
    /// The round has ended, or was cancelled.
    case roundEnded(CheckVerdict, ProbeCost)
    /// The result of an observation.
    case observed(PassiveFinding)
    /// The timer has expired.
    case timer
}

/// An action of a schedule.
enum ScheduleAction: Hashable, Sendable {
    /// Send ``ScheduleEvent/timer`` at this time; nil for never. It takes the place of the time before.
    case arm(Duration?)
    /// Query the kernel, without a packet.
    case observe
    /// Run a round. None is running.
    case run(RoundKind)
    /// Cancel the running round, because its path has changed. Its end is an event nevertheless.
    case cancelRound
    /// A verdict that differs from the one before.
    case notify(CheckVerdict)
    /// A success that the caller waits for.
    case answer(CheckVerdict)
}

/// The result of an observation of connections of other programs.
enum PassiveFinding: Hashable, Sendable {
    /// A host beyond the gateway has answered a connection at this age.
    case fresh(age: Duration)
    /// No recent answer.
    case silent
    /// The gateway does not answer on the link, or connections stall.
    case trouble(ProbeReason)
}

/// The state of a schedule.
enum ScheduleState: Hashable, Sendable {
    case unknown
    /// Also if it is degraded.
    case works
    /// A possible fault, which rounds decide.
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
    /// One question to a DNS server behind the gateway, or else one packet to the second router: two packets.
    case cheap
    /// Only the network itself is contacted.
    case `private`
    /// The private round, the target, and a single anchor: at most 4 kB.
    case brief
    /// The private round, the target, and all anchors after a delay, so that not all machines behind a switch ask at once.
    case full(anchorsAfter: Duration)
}

/// The kernel's facts about the line of a schedule.
struct CheckLine: Hashable, Sendable {
    /// The generation of the path. Results of another are void.
    var generation: UInt64
    /// The fault that the kernel reports without a packet; nil if packets may get through.
    var obstacle: CheckVerdict?
    /// Whether bytes cost money.
    var isMetered: Bool

    /// - Parameter isMetered: The user's setting; nil for that of the interface.
    init(_ path: NetworkPath, isMetered: Bool? = nil) {
        generation = path.generation
        self.isMetered = isMetered ?? path.isExpensive
        let word = CheckJudge.judge(CheckEvidence(path: path, generation: path.generation))
        // Probes find out why a name is not found.
        obstacle = word.place == .thisMachine || word.place == .link ? word : nil
    }
}
