import LinuxSupport
import NetworkReachability

/// What the reports of a round are made of: the line is asked about once, each target for itself, all at the same time.
struct CheckRun: Sendable {
    let site: CheckSite
    /// Nil for the internet.
    let targets: [CheckTarget?]
    let nonce: Nonce
    /// Is given each report with the number of its target, as soon as there is one; none is kept.
    let tell: @Sendable (Int, CheckReport) -> Void
    let line: SharedLine
    /// Whether somebody answers for everybody.
    let nobody: SharedLine
    /// Whether a target that answers is all that is to be known.
    let isEnough: Bool
    /// Since when what is known of the line, and of whether somebody answers for everybody, must have been found; nil for a few seconds ago.
    var since: (line: ContinuousClock.Instant, nobody: ContinuousClock.Instant)?
    /// The results of segment rounds of targets that are checked again and again; nil for targets that are checked once.
    private let segments: SegmentMemory?
    /// How many targets with a round of their own have not answered yet.
    let waiting = Locked(0)
    private let names: NameBook
    /// One target has one deadline with its line; of many each has its own.
    private let single: RoundClock?

    /// How long targets may take before the line is asked about too.
    static let targetsFirst = Duration.milliseconds(250)
    /// The maximum number of targets of a round for which the size of packets is tested.
    private static let segmentTargets = 256

    init(
        site: CheckSite,
        targets: [CheckTarget?],
        nonce: Nonce,
        tell: @escaping @Sendable (Int, CheckReport) -> Void
    ) {
        (self.site, self.targets, self.nonce, self.tell) = (site, targets, nonce, tell)
        let names = NameBook(site: site, nonce: nonce)
        let single = targets.count == 1 ? RoundClock(limit: site.options.timeLimit) : nil
        (self.names, self.single) = (names, single)
        line = SharedLine { await LineRound(site: site, names: names, nonce: nonce, clock: single).run() }
        nobody = SharedLine { LineOutcome(results: await InterceptionRound(site: site, clock: single).run()) }
        isEnough = site.options.anchors.isEmpty && site.options.expectedAddresses.isEmpty
        segments = nil
    }

    /// For targets that are checked again and again, each for itself: they share what is known of the line with those before and after
    /// them, and it is asked about for those alone that do not answer.
    init(site: CheckSite, line: SharedLine, nobody: SharedLine, segments: SegmentMemory) {
        (self.site, self.line, self.nobody, self.segments) = (site, line, nobody, segments)
        (targets, nonce, tell) = ([], Nonce(), { _, _ in })
        (names, single, isEnough) = (NameBook(site: site, nonce: nonce), nil, true)
    }

    /// The round of a single target.
    func run() async {
        await withDiscardingTaskGroup { group in
            let target = targets.first ?? nil
            group.addTask { await askLine(after: isEnough && target != nil ? Self.targetsFirst : .zero) }
            tell(0, await report(of: target))
            group.cancelAll()
        }
    }

    /// For targets that will not answer, and not before they have had their chance.
    func askLine(after time: Duration) async {
        if time > .zero {
            do { try await Task.sleep(for: time) } catch { return }
            guard waiting.withLock({ $0 > 0 }) else { return }
        }
        _ = await line.outcome(since: since?.line)
    }

    /// What a round of a target finds.
    ///
    /// - Parameters:
    ///   - begun: when, and how much time it has.
    ///   - first: its first probe, where that is under way.
    func report(of target: CheckTarget?, begun: RoundClock? = nil, first: ProbeUnderWay? = nil) async -> CheckReport {
        let clock = begun ?? single ?? RoundClock(limit: site.options.timeLimit)
        var evidence = CheckEvidence(site, target)
        if let target {
            waiting.withLock { $0 += 1 }
            defer { waiting.withLock { $0 -= 1 } }
            let outcome = await site.out.during(target.text) {
                await TargetRound(site: site, names: names, nonce: nonce, target: target, clock: clock, first: first)
                    .run()
            }
            evidence.take(outcome, of: site)
        }
        let isAlone = isEnough && target != nil && TargetStage.answers(evidence) != nil
        if !isAlone { evidence.take(await line.outcome(since: since?.line)) }
        if TargetStage.isDoubtful(evidence) {
            // Where somebody answers for everybody, that is all there is to know.
            evidence.results += await nobody.outcome(since: since?.nobody).results
        }
        if let segments {
            evidence.results += await segments.results(of: evidence, site)
        } else if let round = segmentRound(of: evidence) {
            evidence.results += await round.run()
        }
        return CheckReport(evidence, of: site, begun: clock.begun)
    }

    /// The round that tests the size of packets to a target that is checked once; nil if none is made.
    func segmentRound(of evidence: CheckEvidence) -> SegmentRound? {
        targets.count <= Self.segmentTargets ? SegmentRound(of: evidence, site) : nil
    }
}

extension InterfaceType {
    /// Whether those at the other end are neighbours with addresses of their own, not whoever a tunnel or a modem leads to.
    var hasNeighbours: Bool {
        switch self {
        case .ethernet, .wiFi, .wiredVirtual, .loopback: true
        default: false
        }
    }
}

extension CheckSite.Line {
    /// Whether packets of a path take the same way.
    fileprivate func leads(as other: NetworkPath) -> Bool {
        path.interface?.index == other.interface?.index && path.gateway == other.gateway
    }
}

extension CheckEvidence {
    /// Adds what was found of the target.
    mutating func take(_ outcome: TargetRound.Outcome, of site: CheckSite) {
        results = outcome.results
        if let path = outcome.path {
            self.path = path
            sharesLine = site.lines.contains { $0.leads(as: path) }
            isOnLink = path.gateway == nil && path.interface.map { $0.type.hasNeighbours } ?? false
        }
        if let target, target.name != nil, site.options.resolution(of: target.host) != nil { self.target?.name = nil }
    }

    /// Adds what was found of the line.
    mutating func take(_ line: LineOutcome) {
        results += line.results
        dropped = line.dropped
        isReversePathFiltered = line.isReversePathFiltered
        underlay = line.underlay
    }

    /// What is known before anything is sent.
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

/// Numbers nobody can guess, for questions whose answers must be meant for us. Tests give their own.
struct Nonce: Sendable {
    private let number: @Sendable () -> UInt64

    init(_ number: @escaping @Sendable () -> UInt64 = { .random(in: 0 ... .max) }) {
        self.number = number
    }

    /// The identifier of a DNS question.
    var identifier: UInt16 { UInt16(truncatingIfNeeded: number()) }

    /// What an anchor is to repeat: 128 bits in hexadecimal.
    var challenge: String { hexadecimal(digits: 16) + hexadecimal(digits: 16) }

    /// A name below `.invalid`, which nobody has (RFC 6761).
    var inventedName: DNSName? { DNSName(hexadecimal(digits: 10) + ".invalid") }

    private func hexadecimal(digits: Int) -> String {
        let text = String(number(), radix: 16)
        return (String(repeating: "0", count: digits) + text).suffix(digits).description
    }
}
