import LinuxPrimitives
import NetworkReachability

/// One round for any number of targets: the line is asked about once, each target for itself, all at the same time.
struct CheckRun: Sendable {
    let site: CheckSite
    /// Nil for the internet.
    let targets: [CheckTarget?]
    let nonce: Nonce
    /// How many targets are begun in a second.
    let rate: Int
    /// Is given each report with the number of its target, as soon as there is one.
    let tell: @Sendable (Int, CheckReport) -> Void

    /// How many targets are asked at a time; each has a few sockets.
    private static let limit = 200

    /// How long targets may take before the line is asked about too.
    private static let targetsFirst = Duration.milliseconds(250)

    /// Whether a target that answers is all that is to be known.
    private var isEnough: Bool { site.options.anchors.isEmpty && site.options.expectedAddresses.isEmpty }

    /// Tells one report of each target, as soon as there is one; none is kept.
    func run() async {
        let begun = ContinuousClock.now
        let names = NameBook(site: site, nonce: nonce)
        // One target has one deadline with its line; of many each has its own.
        let single = targets.count == 1 ? RoundClock(limit: site.options.timeLimit) : nil
        let line = SharedLine { await LineRound(site: site, names: names, nonce: nonce, clock: single).run() }
        let nobody = SharedLine { LineOutcome(results: await InterceptionRound(site: site, clock: single).run()) }
        // How many targets have not answered yet.
        let waiting = Locked(0)
        await withTaskGroup(of: (Int, CheckReport)?.self) { group in
            // For targets that will not answer, and not before they have had their chance.
            group.addTask {
                if isEnough, !targets.contains(nil) {
                    do { try await Task.sleep(for: Self.targetsFirst) } catch { return nil }
                    guard waiting.withLock({ $0 > 0 }) else { return nil }
                }
                _ = await line.outcome()
                return nil
            }
            var left = targets.count
            func take(_ numbered: (Int, CheckReport)?) {
                guard let (number, report) = numbered else { return }
                left -= 1
                tell(number, report)
            }
            for (number, target) in targets.enumerated() {
                if number >= Self.limit, let next = await group.next() { take(next) }
                group.addTask {
                    // What is cancelled begins nothing, and is told as it is.
                    try? await Task.sleep(until: begun + .seconds(1) * number / rate, clock: .continuous)
                    return (number, await report(of: target, names, line, nobody, waiting, single))
                }
            }
            while left > 0, let next = await group.next() { take(next) }
            group.cancelAll()
        }
    }

    private func report(
        of target: CheckTarget?,
        _ names: NameBook,
        _ line: SharedLine,
        _ nobody: SharedLine,
        _ waiting: Locked<Int>,
        _ clock: RoundClock?
    ) async -> CheckReport {
        let begun = ContinuousClock.now
        var evidence = CheckEvidence(site, target)
        if let target {
            waiting.withLock { $0 += 1 }
            defer { waiting.withLock { $0 -= 1 } }
            let outcome = await site.out.during(target.text) {
                let clock = clock ?? RoundClock(limit: site.options.timeLimit)
                return await TargetRound(site: site, names: names, nonce: nonce, target: target, clock: clock).run()
            }
            evidence.results = outcome.results
            if let path = outcome.path {
                evidence.path = path
                evidence.sharesLine = site.lines.contains { $0.leads(as: path) }
                evidence.isOnLink = path.gateway == nil && path.interface.map { $0.type.hasNeighbours } ?? false
            }
            if site.options.resolution(of: target.host) != nil { evidence.target?.name = nil }
        }
        let isAlone = isEnough && target != nil && TargetStage.answers(evidence) != nil
        if !isAlone { evidence.take(await line.outcome()) }
        if TargetStage.isDoubtful(evidence) {
            // Where somebody answers for everybody, that is all there is to know.
            evidence.results += await nobody.outcome().results
        }
        return CheckReport(evidence, of: site, begun: begun)
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
    /// Adds what was found of the line.
    fileprivate mutating func take(_ line: LineOutcome) {
        results += line.results
        dropped = line.dropped
        isReversePathFiltered = line.isReversePathFiltered
        underlay = line.underlay
    }

    /// What is known before anything is sent.
    init(_ site: CheckSite, _ target: CheckTarget? = nil) {
        self.init(path: site.path, generation: CheckSite.generation, target: target)
        families = Set(site.lines.map(\.prober.family))
        for line in site.lines { gateways[line.prober.family] = line.path.gateway }
        anchors = Set(site.options.anchors.map(\.host))
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
