import LinuxSupport
import Netlink
import NetworkReachability
import ServerTrustNIO

/// A round about the uplink that all targets share. One runs at a time, and its results are used during their lifetime.
actor SharedLine {
    private let round: @Sendable () async -> LineOutcome
    private let lifetime: Duration
    /// True if a round continues if a task that waits for it is cancelled.
    private let outlivesWaiters: Bool
    private let latest = Locked<(outcome: LineOutcome, end: ContinuousClock.Instant)?>(nil)
    private var running: Task<LineOutcome, Never>?

    init(lifetime: Duration, outlivesWaiters: Bool, _ round: @escaping @Sendable () async -> LineOutcome) {
        (self.lifetime, self.outlivesWaiters, self.round) = (lifetime, outlivesWaiters, round)
    }

    /// Returns the latest results. Nil if a new round is needed.
    ///
    /// - Parameter time: The earliest acceptable end of their round. If nil, the lifetime applies.
    nonisolated func known(since time: ContinuousClock.Instant? = nil) -> LineOutcome? {
        let earliest = time ?? .now - lifetime
        return latest.withLock { latest in latest.flatMap { $0.end >= earliest ? $0.outcome : nil } }
    }

    /// Returns the latest results, or runs a new round and returns its results.
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

    /// Cancels the running round.
    func cancel() { running?.cancel() }
}

/// The results of a round about the uplink.
struct LineOutcome: Sendable {
    var results: [ProbeResult] = []
    /// The numbers of received packets that were dropped, by family.
    var dropped: [AddressFamily: Int] = [:]
    var isReversePathFiltered = false
    /// The evidence about the path below a tunnel; empty without a tunnel.
    var underlay: [CheckEvidence] = []
}

extension InterfaceType {
    /// True if the link has neighbours with link-layer addresses. False for tunnels and modems.
    var hasNeighbours: Bool {
        switch self {
        case .ethernet, .wiFi, .wiredVirtual, .loopback: true
        default: false
        }
    }
}

extension CheckSite.Line {
    /// Returns whether packets along the path leave through the same interface and gateway.
    fileprivate func leads(as other: NetworkPath) -> Bool {
        path.interface?.index == other.interface?.index && path.gateway == other.gateway
    }
}

extension CheckEvidence {
    /// Stores the results of the target.
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

    /// Creates the evidence before any packet is sent.
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
    /// The clock of the check; nil without one.
    let clock: RoundClock?

    /// The time limit of a probe for an interception near this machine. It is shorter than the time until the second SYN.
    static let nearby = Duration.milliseconds(900)
    /// The time limit after the target has answered.
    private static let next = Duration.milliseconds(600)

    /// Sends a SYN over each family, and requests a page if the connection is accepted.
    func run() async -> [ProbeResult] {
        let limit = clock?.left(atMost: Self.next) ?? Self.next
        return await withTaskGroup(of: ProbeResult.self) { group in
            for line in site.lines {
                guard let address = line.unassigned else { continue }
                group.addTask {
                    let result = await line.prober.connect(
                        .unassigned,
                        to: address,
                        port: 80,
                        kind: .interception,
                        limit: limit
                    )
                    guard result.outcome == .answered else { return result }
                    var page = await Self.page(
                        line.prober,
                        address,
                        limit: clock?.left(atMost: Self.nearby) ?? Self.nearby
                    )
                    page.cost = page.cost + result.cost
                    return page
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Connects to the address, and requests a page.
    static func page(_ prober: Prober, _ address: IPAddress, limit: Duration) async -> ProbeResult {
        guard let url = try? TrustedHTTPURL("http://\(address.urlText)/") else {
            return await prober.connect(.unassigned, to: address, port: 80, kind: .interception, limit: limit)
        }
        var result = await prober.fetch(.unassigned, WebRequest(url, .page), at: address, limit: limit)
        if result.request.kind == .http { result.request.kind = .interception }
        return result
    }
}

/// A round of probes of the path to the far end of a tunnel.
struct UnderlayRound: Sendable {
    let site: CheckSite
    let end: TunnelFarEnd
    let clock: RoundClock

    /// Runs the round, and returns the evidence. Nil if the kernel reports no far end.
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
