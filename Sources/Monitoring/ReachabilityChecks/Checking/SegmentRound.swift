import LinuxSupport
import NetworkReachability

/// Tests whether packets as large as the link pass to a target that answers. A path MTU black hole (RFC 2923) loses large packets without
/// an error, and small answers show nothing of it.
struct SegmentRound: Sendable {
    let address: IPAddress
    let prober: Prober
    /// Of the path, in bytes.
    let mtu: Int

    /// The time in which a reply is expected.
    private static let limit = Duration.milliseconds(600)
    /// Every link of IPv6 carries packets of this size (RFC 8200).
    private static let smallest = 1280
    /// A small packet as a control, in bytes.
    private static let control = 100

    /// The time between two packets of a trial.
    private static let spacing = Duration.milliseconds(5)

    /// Sends a large packet and a small one. If only the small one is answered, sends both again, with one that most tunnels let pass.
    func run() async -> [ProbeResult] {
        guard mtu > Self.smallest else { return [] }
        var results = await trial([mtu, Self.control])
        if results.first?.outcome == .silent, results.last?.outcome == .answered {
            results += await trial([mtu, Self.smallest, Self.control])
        }
        // This machine does not send packets of this size.
        return results.filter { !$0.isRefusedHere }
    }

    /// Sends one packet of each size, the largest first. A target that limits the rate of its answers drops the later ones, so an answer to
    /// a smaller packet shows that the largest one was lost on the way.
    ///
    /// - Parameter sizes: Of the IP packets, in bytes.
    private func trial(_ sizes: [Int]) async -> [ProbeResult] {
        for _ in sizes { await prober.gate.pass() }
        return await withTaskGroup(of: (Int, ProbeResult).self) { group in
            for (number, size) in sizes.enumerated() {
                group.addTask { (number, await echo(of: size, after: Self.spacing * number)) }
            }
            var results: [(Int, ProbeResult)] = []
            for await result in group { results.append(result) }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func echo(of size: Int, after delay: Duration) async -> ProbeResult {
        let header = prober.family == .ipv4 ? 28 : 48
        var request = prober.request(.mtu, .target, address, limit: Self.limit)
        request.size = size
        var settings = prober.settings()
        settings.fragmentation = .probing
        func send(_ content: DatagramRequest.Content, port: UInt16, _ tries: [Duration]) async -> DatagramOutcome {
            await prober.engine.send(
                DatagramRequest(
                    to: prober.endpoint(address, port: port),
                    content,
                    settings: settings,
                    tries: tries,
                    limit: Self.limit
                )
            )
        }
        let result = prober.result(
            request,
            await send(.echo(size: size - header), port: 0, [delay, delay + Self.limit / 2])
        )
        guard result.outcome == .skipped(.notPermitted) else { return result }
        // The errors of a closed port are rate limited: a second one could be answered in place of the first.
        let payload = [UInt8](repeating: 0, count: size - header)
        return prober.closedPortResult(request, await send(.payload(payload), port: Prober.closedPort, [delay]))
    }
}

extension SegmentRound {
    /// The round for a target that answers; nil if there is nothing to find out.
    init?(of evidence: CheckEvidence, _ site: CheckSite) {
        guard let address = Self.address(of: evidence, site) else { return nil }
        self.init(to: address, site)
    }

    /// The address at which a target answers; nil if there is nothing to find out.
    static func address(of evidence: CheckEvidence, _ site: CheckSite) -> IPAddress? {
        guard !site.options.isThrifty, let finding = TargetStage.answers(evidence), finding.place == .works,
            let address = finding.evidence.lazy.compactMap(\.request.destination).first, !address.wire.isLoopback
        else { return nil }
        return address
    }

    init?(to address: IPAddress, _ site: CheckSite) {
        guard let (prober, path) = try? site.prober(to: address), path.flags?.contains(.isLocalAddress) == false,
            let mtu = path.mtu
        else { return nil }
        // Jumbo frames, and no more than a packet of ours may have.
        self.init(address: address, prober: prober, mtu: min(Int(mtu), 9000))
    }
}

/// Tests whether a target that answers over one address family answers over the other too. A host is reachable at any of its addresses, so an
/// answer over one family shows nothing of the other.
struct FamilyRound: Sendable {
    private let way: CheckSite.Way
    /// The port that answered over the other family; nil for an echo.
    private let port: UInt16?

    /// Enough for the second attempt of TCP after 1 s (RFC 6298).
    private static let limit = Duration.milliseconds(2500)

    /// - Parameter ways: The addresses of the target.
    /// - Returns: Nil if the target does not answer, or if the kernel has no path to an address of the other family.
    init?(of evidence: CheckEvidence, _ ways: [CheckSite.Way], _ site: CheckSite) {
        guard !site.options.isThrifty, let finding = TargetStage.answers(evidence), finding.place == .works,
            let answer = finding.evidence.lazy.map(\.request).first(where: { $0.destination != nil }),
            let way = ways.first(where: { $0.prober.family != answer.binding.family && $0.path.status.isReachable })
        else { return nil }
        (self.way, port) = (way, answer.port)
    }

    /// The endpoint that is probed.
    var endpoint: SocketEndpoint { SocketEndpoint(way.address.wire, port: port ?? 0) }

    func run() async -> [ProbeResult] {
        guard let port else {
            return [await way.prober.echo(.target, to: way.address, limit: Self.limit, orReset: true)]
        }
        return [await way.prober.connect(.target, to: way.address, port: port, limit: Self.limit)]
    }
}

/// The results of rounds that a target gets in addition after it has answered, for targets that are checked again and again. A round takes
/// up to five packets, so it is not made with each check. Thread-safe.
final class RoundMemory: Sendable {
    private struct Entry {
        var results: [ProbeResult] = []
        /// When the next round is due.
        var expiry: ContinuousClock.Instant
    }

    private let entries = Locked<[SocketEndpoint: Entry]>([:])
    /// How long a result remains valid.
    private let lifetime: Duration

    /// When the next round may begin, of all in the process.
    private static let next = Locked(ContinuousClock.now)
    /// The time between the beginnings of two rounds. Rounds that are due earlier wait for a later check of their target.
    private static let pace = Duration.milliseconds(100)
    /// How long the loss of packets remains valid, so that its end is noticed.
    private static let lifetimeOfLoss = Duration.seconds(60)
    /// The maximum number of endpoints. Beyond it, results that are no longer valid are dropped.
    private static let countLimit = 4096

    init(lifetime: Duration) { self.lifetime = lifetime }

    /// Returns the results for an endpoint of a target that answers, and whether the next round is due. The first check of a target that
    /// answers makes none, so that it reports at once that the target is back.
    func results(for endpoint: SocketEndpoint) -> (known: [ProbeResult], isDue: Bool) {
        let now = ContinuousClock.now
        return entries.withLock { entries in
            guard let entry = entries[endpoint] else {
                if entries.count >= Self.countLimit { entries = entries.filter { $0.value.expiry > now } }
                entries[endpoint] = Entry(expiry: now)
                return ([], false)
            }
            guard entry.expiry <= now, Self.begins(at: now) else { return (entry.results, false) }
            // Other checks of the same endpoint begin no round meanwhile.
            entries[endpoint]?.expiry = now + .seconds(5)
            return (entry.results, true)
        }
    }

    /// Keeps the results of a round.
    func keep(_ results: [ProbeResult], for endpoint: SocketEndpoint) {
        let isLost = results.contains { $0.outcome == .answered } && results.contains { $0.outcome == .silent }
        entries.withLock { entries in
            // The network has changed meanwhile.
            guard entries[endpoint] != nil else { return }
            let lifetime = isLost ? min(lifetime, Self.lifetimeOfLoss) : lifetime
            entries[endpoint] = Entry(results: results.map(\.withoutCost), expiry: .now + lifetime)
        }
    }

    /// The network has changed.
    func forget() { entries.withLock { $0 = [:] } }

    private static func begins(at now: ContinuousClock.Instant) -> Bool {
        next.withLock { next in
            guard next <= now else { return false }
            next = now + pace
            return true
        }
    }
}
