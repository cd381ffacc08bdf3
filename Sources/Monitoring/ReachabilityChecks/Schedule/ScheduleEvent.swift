/// What a schedule is told.
package enum ScheduleEvent: Hashable, Sendable {
    /// The kernel's path, first of all and with each change.
    case path(CheckLine)
    /// The network says that its captive portal is elsewhere (RFC 8910).
    case portalChanged
    /// `resolv.conf(5)` has changed.
    case resolverChanged
    /// The machine woke from sleep, `boottime` of `clock_gettime(2)` jumped.
    case resumed
    /// Somebody wants one answer, whatever it is.
    case asked(UInt64)
    /// Somebody wants an answer as soon as it works.
    case waiting(UInt64)
    /// Who asked or waited does so no more.
    case left(UInt64)
    /// The round that was to be run, or was cancelled, is over.
    case roundEnded(CheckVerdict, ProbeCost)
    /// The kernel was asked.
    case observed(PassiveFinding)
    /// The time has come that the timer was armed for.
    case timer
}

/// What a schedule wants done.
package enum ScheduleAction: Hashable, Sendable {
    /// Send ``ScheduleEvent/timer`` at this time; nil for never. It takes the place of the time before.
    case arm(Duration?)
    /// Ask the kernel, no packet.
    case observe
    /// Run a round. None is running.
    case run(RoundKind)
    /// The running round is about a path that is no more. Its end is told all the same.
    case cancelRound
    /// What holds from now on, and is another verdict than the one before.
    case notify(CheckVerdict)
    /// What one who asked or waited gets; it is forgotten then.
    case answer(UInt64, CheckVerdict)
}

/// What the kernel knows of the traffic of others.
package enum PassiveFinding: Hashable, Sendable {
    /// Something beyond the gateway has answered somebody so long ago.
    case fresh(age: Duration)
    /// Nobody has talked lately.
    case silent
    /// The gateway does not answer on the link, or connections stall.
    case trouble(ProbeReason)
}

/// How a check stands.
package enum ScheduleState: Hashable, Sendable {
    case unknown
    /// Also where it is degraded.
    case works
    /// It may have broken; rounds decide.
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
