package import ReachabilityLedger

/// Why nothing was heard of a machine.
package enum SilenceVerdict: Hashable, Sendable {
    /// It said that it would go.
    case planned(reason: String?)
    /// It had lost the network itself, and knows why.
    case outage(DeviceOutage)
    /// It was off, or started again.
    case power
    /// It slept: no outage.
    case sleep
    /// Nobody listened: the broker or the hub itself was away.
    case unobserved
    /// It was well, and so were others of its site that fell with it: what they share was away.
    case site
    /// It was well, and alone: the provider or the broker.
    case beyond
    /// Not yet known.
    case unexplained

    /// The word for it in what is told.
    package var word: String {
        switch self {
        case .planned: "planned"
        case .outage: "outage"
        case .power: "power"
        case .sleep: "sleep"
        case .unobserved: "unobserved"
        case .site: "site"
        case .beyond: "beyond"
        case .unexplained: "unexplained"
        }
    }

    /// Whose fault it is; nil where it is nobody's.
    package var attribution: Attribution? {
        switch self {
        case .planned, .sleep, .unobserved: nil
        case .outage(let outage): outage.attribution
        case .power: .us
        case .site, .beyond: .upstream
        case .unexplained: .unknown
        }
    }

    package var cause: OutageCause? {
        switch self {
        case .outage(let outage): outage.cause
        case .power: OutageCause(rawValue: "power")
        default: nil
        }
    }
}

/// What is known of a silence. The verdict is this table, its first row that fits:
///
/// | Evidence | Verdict |
/// |---|---|
/// | it said that it would go | planned |
/// | it said that it would sleep, and is not back | sleep |
/// | two machines use its name | unexplained |
/// | an outage of `us` or `upstream` covers a part of it, same boot | that outage, the longest |
/// | another boot | power |
/// | it said that it would sleep, or slept most of the time | sleep |
/// | the broker or the hub was away when it came back | unobserved |
/// | all was told, same boot, and others of the site fell within 30 s | site |
/// | all was told, same boot | beyond |
/// | nothing yet | unexplained |
package struct SilenceEvidence: Hashable, Sendable {
    package var planned = false
    package var reason: String?
    package var saidSleep = false
    /// Whether what came back may be another machine, under the name of this one.
    package var isDisputed = false
    /// What the machine said before; nil where it was never heard of.
    package var before: DeviceState.Report?
    /// What it said first afterwards; nil while it is silent.
    package var after: DeviceState.Report?
    /// What it told of itself since.
    package var outages: [DeviceOutage] = []
    /// For how long it slept.
    package var slept: Duration = .zero
    /// Whether nobody could have heard it.
    package var unobserved = false
    /// Whether it has told all it knows.
    package var isToldWhole = false
    /// How many others of the site fell at about the same time.
    package var neighbours = 0

    package init() {}

    package var verdict: SilenceVerdict {
        if planned { return .planned(reason: reason) }
        guard let after else { return saidSleep ? .sleep : .unexplained }
        if isDisputed { return .unexplained }
        let isSameBoot = before.map { $0.boot == after.boot } ?? true
        if isSameBoot, let outage = covering(after) { return .outage(outage) }
        if !isSameBoot { return .power }
        if saidSleep || sleptMostly(after) { return .sleep }
        if unobserved { return .unobserved }
        guard isToldWhole else { return .unexplained }
        return neighbours > 0 ? .site : .beyond
    }

    /// Whether it slept for half of the time at least, or for all of it but what passes anyway between two reports, and until it has
    /// connected: it was last heard of some time before it fell asleep.
    private func sleptMostly(_ after: DeviceState.Report) -> Bool {
        guard slept > .zero, let before else { return slept > .zero }
        return after.bootTime - before.bootTime - slept <= max(slept, before.refresh + .seconds(60))
    }

    /// The longest outage within the silence. Both ends of the silence are seen by CLOCK_BOOTTIME, for wall clocks are set; outages are
    /// told by the wall clock, whose distance to it is known from the report that came first afterwards.
    private func covering(_ after: DeviceState.Report) -> DeviceOutage? {
        let distance = after.wall - after.bootTime
        let (start, end) = ((before?.bootTime ?? .zero) + distance, after.wall)
        let within = outages.filter {
            ($0.attribution == .us || $0.attribution == .upstream) && $0.start <= end && ($0.end ?? end) >= start
        }
        func length(_ outage: DeviceOutage) -> Duration { min(outage.end ?? end, end) - max(outage.start, start) }
        return within.max { length($0) < length($1) }
    }
}
