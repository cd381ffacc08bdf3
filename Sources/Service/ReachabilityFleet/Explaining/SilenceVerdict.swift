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
        case .site: "site"
        case .beyond: "beyond"
        case .unexplained: "unexplained"
        }
    }

    /// Whose fault it is; nil where it is nobody's.
    package var attribution: Attribution? {
        switch self {
        case .planned, .sleep: nil
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
/// | an outage of `us` or `upstream` covers a part of it, same boot | that outage, the longest |
/// | another boot | power |
/// | it slept | sleep |
/// | all was told, same boot, and others of the site fell within 30 s | site |
/// | all was told, same boot | beyond |
/// | nothing yet | unexplained |
package struct SilenceEvidence: Hashable, Sendable {
    package var planned = false
    package var reason: String?
    /// What the machine said before; nil where it was never heard of.
    package var before: DeviceState.Report?
    /// What it said first afterwards; nil while it is silent.
    package var after: DeviceState.Report?
    /// What it told of itself since.
    package var outages: [DeviceOutage] = []
    package var slept = false
    /// Whether it has told all it knows.
    package var isToldWhole = false
    /// How many others of the site fell at about the same time.
    package var neighbours = 0

    package init() {}

    package var verdict: SilenceVerdict {
        if planned { return .planned(reason: reason) }
        guard let after else { return .unexplained }
        let isSameBoot = before.map { $0.boot == after.boot } ?? true
        if isSameBoot, let outage = covering(after) { return .outage(outage) }
        if !isSameBoot { return .power }
        if slept { return .sleep }
        guard isToldWhole else { return .unexplained }
        return neighbours > 0 ? .site : .beyond
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
