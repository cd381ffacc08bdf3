import LinuxSupport
import NetworkReachability

/// Tests whether packets of the link's size pass to a target that answers. A path MTU black hole (RFC 2923) drops large packets without an
/// error, and small answers do not show it.
struct SegmentRound: Sendable {
    let address: IPAddress
    let prober: Prober
    /// The path MTU in bytes.
    let mtu: Int

    /// The time limit for a reply.
    private static let limit = Duration.milliseconds(600)
    /// The minimum MTU of IPv6 in bytes (RFC 8200). Every link carries such packets.
    private static let smallest = 1280
    /// The size of the small control packet in bytes.
    private static let control = 100

    /// The time between two packets of a trial.
    private static let spacing = Duration.milliseconds(5)

    /// Sends a large packet and a small one. If only the small one is answered, repeats both with a third packet of a size that most
    /// tunnels carry.
    func run() async -> [ProbeResult] {
        guard mtu > Self.smallest else { return [] }
        var results = await trial([mtu, Self.control])
        if results.first?.outcome == .silent, results.last?.outcome == .answered {
            results += await trial([mtu, Self.smallest, Self.control])
        }
        // This machine does not send packets of this size.
        return results.filter { !$0.isRefusedHere }
    }

    /// Sends one packet of each size, the largest first. A target that limits the rate of its answers drops the later packets. An answer to
    /// a smaller packet therefore shows that the larger one was lost on the path.
    ///
    /// - Parameter sizes: The sizes of the IP packets in bytes, in descending order.
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
        // The rate of errors about a closed port is limited, so a retry could be answered in place of the first packet.
        let payload = [UInt8](repeating: 0, count: size - header)
        return prober.closedPortResult(request, await send(.payload(payload), port: Prober.closedPort, [delay]))
    }
}

extension SegmentRound {
    /// Creates the round for a target that answers. Nil if there is nothing to test.
    init?(of evidence: CheckEvidence, _ site: CheckSite) {
        guard let address = Self.address(of: evidence, site) else { return nil }
        self.init(to: address, site)
    }

    /// Returns the address at which a target answers. Nil if there is nothing to test.
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
        // 9000 bytes is the MTU of jumbo frames, and the maximum size of our packets.
        self.init(address: address, prober: prober, mtu: min(Int(mtu), 9000))
    }
}

/// Tests whether a target that answers over one address family also answers over the other. A host counts as reachable at any of its
/// addresses, so an answer over one family does not show a fault of the other.
struct FamilyRound: Sendable {
    private let addressPath: CheckSite.AddressPath
    /// The port that answered over the first family; nil for an echo.
    private let port: UInt16?

    /// The time limit. It is sufficient for the second SYN of TCP after 1 s (RFC 6298).
    private static let limit = Duration.milliseconds(2500)

    /// - Parameter addressPaths: The addresses of the target.
    /// - Returns: Nil if the target does not answer, or if the kernel has no path over the other family.
    init?(of evidence: CheckEvidence, _ addressPaths: [CheckSite.AddressPath], _ site: CheckSite) {
        guard !site.options.isThrifty, let finding = TargetStage.answers(evidence), finding.place == .works,
            // A time server has no port of TCP.
            let answer = finding.evidence.lazy.map(\.request).first(where: { $0.destination != nil }),
            answer.kind != .ntp,
            let addressPath = addressPaths.first(where: {
                $0.prober.family != answer.binding.family && $0.path.status.isReachable
            })
        else { return nil }
        (self.addressPath, port) = (addressPath, answer.port)
    }

    /// The probed endpoint.
    var endpoint: SocketEndpoint { SocketEndpoint(addressPath.address.wire, port: port ?? 0) }

    func run() async -> [ProbeResult] {
        guard let port else {
            return [await addressPath.prober.echo(.target, to: addressPath.address, limit: Self.limit, orReset: true)]
        }
        return [await addressPath.prober.connect(.target, to: addressPath.address, port: port, limit: Self.limit)]
    }
}

/// The results of additional rounds for targets that answer and are checked repeatedly. An additional round takes up to five packets, so
/// not every check runs one. Thread-safe.
final class RoundMemory: Sendable {
    private struct Entry {
        var results: [ProbeResult] = []
        /// The time at which the next round is due.
        var expiry: ContinuousClock.Instant
    }

    private let entries = Locked<[SocketEndpoint: Entry]>([:])
    /// The time for which a result stays valid.
    private let lifetime: Duration

    /// The earliest time of the next round in the process.
    private static let next = Locked(ContinuousClock.now)
    /// The minimum time between the starts of two rounds. A round that is due earlier waits for a later check of its target.
    private static let pace = Duration.milliseconds(100)
    /// The time for which a result with lost packets stays valid, so that the end of the loss is noticed.
    private static let lifetimeOfLoss = Duration.seconds(60)
    /// The maximum number of stored endpoints. Beyond it, expired results are removed.
    private static let countLimit = 4096

    init(lifetime: Duration) { self.lifetime = lifetime }

    /// Returns the known results for an endpoint, and whether a round is due. The first check of a target that answers runs no additional
    /// round, so that it reports immediately that the target is back.
    func results(for endpoint: SocketEndpoint) -> (known: [ProbeResult], isDue: Bool) {
        let now = ContinuousClock.now
        return entries.withLock { entries in
            guard let entry = entries[endpoint] else {
                if entries.count >= Self.countLimit { entries = entries.filter { $0.value.expiry > now } }
                entries[endpoint] = Entry(expiry: now)
                return ([], false)
            }
            guard entry.expiry <= now, Self.begins(at: now) else { return (entry.results, false) }
            // Other checks of the same endpoint start no round in the next 5 s.
            entries[endpoint]?.expiry = now + .seconds(5)
            return (entry.results, true)
        }
    }

    /// Stores the results of a round.
    func keep(_ results: [ProbeResult], for endpoint: SocketEndpoint) {
        let isLost = results.contains { $0.outcome == .answered } && results.contains { $0.outcome == .silent }
        entries.withLock { entries in
            // Without an entry, the network has changed during the round.
            guard entries[endpoint] != nil else { return }
            let lifetime = isLost ? min(lifetime, Self.lifetimeOfLoss) : lifetime
            entries[endpoint] = Entry(results: results.map(\.withoutCost), expiry: .now + lifetime)
        }
    }

    /// Removes all results because the network has changed.
    func forget() { entries.withLock { $0 = [:] } }

    private static func begins(at now: ContinuousClock.Instant) -> Bool {
        next.withLock { next in
            guard next <= now else { return false }
            next = now + pace
            return true
        }
    }
}
