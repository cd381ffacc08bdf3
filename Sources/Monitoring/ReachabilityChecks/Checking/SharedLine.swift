import LinuxSupport
import Netlink
import NetworkReachability
import ServerTrustNIO

/// A probe or round about the uplink that all targets share. One runs at a time, and its results are used during their lifetime.
actor SharedLine {
    private let round: @Sendable () async -> LineOutcome
    private let lifetime: Duration
    /// Whether a round goes on after a task that waits for it was cancelled.
    private let outlivesWaiters: Bool
    private let latest = Locked<(outcome: LineOutcome, end: ContinuousClock.Instant)?>(nil)
    private var running: Task<LineOutcome, Never>?

    init(lifetime: Duration, outlivesWaiters: Bool, _ round: @escaping @Sendable () async -> LineOutcome) {
        (self.lifetime, self.outlivesWaiters, self.round) = (lifetime, outlivesWaiters, round)
    }

    /// Returns the latest results; nil if a new round is needed.
    ///
    /// - Parameter time: The earliest end of their round; nil for their lifetime.
    nonisolated func known(since time: ContinuousClock.Instant? = nil) -> LineOutcome? {
        let earliest = time ?? .now - lifetime
        return latest.withLock { latest in latest.flatMap { $0.end >= earliest ? $0.outcome : nil } }
    }

    /// Returns the latest results, or those of a new round.
    func outcome(since time: ContinuousClock.Instant? = nil) async -> LineOutcome {
        if let known = known(since: time) { return known }
        let task = running ?? Task { [round] in await round() }
        running = task
        let outcome =
            if outlivesWaiters {
                await task.value
            } else {
                await withTaskCancellationHandler {
                    await task.value
                } onCancel: {
                    task.cancel()
                }
            }
        if running == task {
            running = nil
            latest.withLock { $0 = (outcome, .now) }
        }
        return outcome
    }

    /// Cancels the round that runs.
    func cancel() { running?.cancel() }
}

/// The results about the uplink.
struct LineOutcome: Sendable {
    var results: [ProbeResult] = []
    /// The incoming packets that were dropped.
    var dropped: [AddressFamily: Int] = [:]
    var isReversePathFiltered = false
    /// The evidence about the paths below tunnels.
    var underlay: [CheckEvidence] = []
}

extension InterfaceType {
    /// Whether the other ends are neighbours with link-layer addresses, and not the far end of a tunnel or a modem.
    var hasNeighbours: Bool {
        switch self {
        case .ethernet, .wiFi, .wiredVirtual, .loopback: true
        default: false
        }
    }
}

extension CheckSite.Line {
    /// Whether packets along a path leave in the same way.
    fileprivate func leads(as other: NetworkPath) -> Bool {
        path.interface?.index == other.interface?.index && path.gateway == other.gateway
    }
}

extension CheckEvidence {
    /// Adds the results of the target.
    mutating func take(_ outcome: TargetRound.Outcome, of site: CheckSite) {
        results = outcome.results
        if let path = outcome.path {
            self.path = path
            sharesLine = site.lines.contains { $0.leads(as: path) }
            isOnLink = path.gateway == nil && path.interface.map { $0.type.hasNeighbours } ?? false
        }
        if let target, target.name != nil, site.options.resolution(of: target.host) != nil { self.target?.name = nil }
    }

    /// Adds the results about the uplink.
    mutating func take(_ line: LineOutcome) {
        results += line.results
        dropped = line.dropped
        isReversePathFiltered = line.isReversePathFiltered
        underlay = line.underlay
    }

    /// The evidence before anything is sent.
    init(_ site: CheckSite, _ target: CheckTarget? = nil) {
        self.init(path: site.path, generation: CheckSite.generation, target: target)
        families = Set(site.lines.map(\.prober.family))
        tunnel = site.lines.lazy.compactMap(\.path.tunnel).first
        for line in site.lines { gateways[line.prober.family] = line.path.gateway }
        anchors = Set(site.options.anchors.map(\.host))
        restingAnchors = site.resting
        servers = site.servers
        duplicates = site.duplicates
        expectations = site.options.expectedAddresses
    }
}

/// Probes an address that no host has. A host that answers there intercepts all connections.
struct InterceptionRound: Sendable {
    let site: CheckSite
    /// The clock of the round that this is a part of; nil for none.
    let clock: RoundClock?

    /// The time limit for an interception, which is nearby. It is less than the time until the second SYN.
    static let nearby = Duration.milliseconds(900)
    /// The time limit after the target has answered, which is further away.
    private static let next = Duration.milliseconds(600)

    /// Sends a SYN over each family, and requests a page if the connection is accepted.
    func run() async -> [ProbeResult] {
        let limit = clock?.left(atMost: Self.next) ?? Self.next
        return await withTaskGroup(of: ProbeResult.self) { group in
            for line in site.lines {
                guard let nobody = line.unassigned else { continue }
                group.addTask {
                    let result = await line.prober.connect(
                        .nobody,
                        to: nobody,
                        port: 80,
                        kind: .interception,
                        limit: limit
                    )
                    guard result.outcome == .answered else { return result }
                    var page = await Self.page(
                        line.prober,
                        nobody,
                        limit: clock?.left(atMost: Self.nearby) ?? Self.nearby
                    )
                    page.cost = page.cost + result.cost
                    return page
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Connects, and requests a page.
    static func page(_ prober: Prober, _ nobody: IPAddress, limit: Duration) async -> ProbeResult {
        guard let url = try? TrustedHTTPURL("http://\(nobody.urlText)/") else {
            return await prober.connect(.nobody, to: nobody, port: 80, kind: .interception, limit: limit)
        }
        var result = await prober.fetch(.nobody, WebRequest(url, .page), at: nobody, limit: limit)
        if result.request.kind == .http { result.request.kind = .interception }
        return result
    }
}

/// One round of probes of the path to the far end of a tunnel.
struct UnderlayRound: Sendable {
    let site: CheckSite
    let end: TunnelFarEnd
    let clock: RoundClock

    /// Returns the evidence about the path; nil if the kernel has none.
    func run() async -> CheckEvidence? {
        guard let address = end.address, case let end = IPAddress(address),
            let (prober, path) = try? site.prober(toFarEnd: end, mark: self.end.mark)
        else { return nil }
        var evidence = CheckEvidence(
            path: path,
            generation: CheckSite.generation,
            target: CheckTarget("\(end)", decisive: nil)
        )
        guard path.status.isReachable else { return evidence }
        async let gateway = prober.gateway(towards: end, limit: clock.left)
        async let hop = prober.secondHop(towards: end, limit: clock.left)
        async let echo = prober.echo(.target, to: end, limit: clock.left)
        evidence.results = await gateway + hop + [echo]
        return evidence
    }
}
