import LinuxSupport
import NetworkReachability
import ServerTrustNIO

/// A round of probes of the uplink: gateway, second hop, DNS servers, anchors and interception, all in parallel. It ends early only if all
/// of them work.
struct LineRound: Sendable {
    /// The parts of a round. The raw value is shown as progress.
    private enum Part: String, Hashable, Sendable {
        case hops = "gateway and second hop"
        case names = "DNS servers"
        case anchors
        case secureAnchors = "anchors over TLS"
        case interception = "interception"
        case portal
    }

    let site: CheckSite
    let names: AddressLookup
    let nonce: Nonce
    let clock: RoundClock
    /// Taken by the first anchor that repeats a stalled request with small segments.
    let smallSegments = OnceFlag()
    /// Taken when a router behind the gateway has answered, by family.
    private let hasHop = [AddressFamily.ipv4: OnceFlag(), .ipv6: OnceFlag()]

    /// - Parameter clock: The clock of the whole check. If nil, a new clock starts.
    init(site: CheckSite, nonce: Nonce, clock: RoundClock? = nil) {
        (self.site, self.nonce) = (site, nonce)
        names = AddressLookup(site: site, nonce: nonce)
        self.clock = clock ?? RoundClock(limit: site.options.timeLimit)
    }

    /// True if only the local network is contacted.
    var isPrivate: Bool { site.options.isPrivate }
    private var isThrifty: Bool { site.options.isThrifty }

    /// Runs the round. Returns all results, including those about the path below a tunnel.
    func run() async -> LineOutcome {
        let before = PacketCounters(in: site.options.networkNamespace)
        async let underlay = below()
        let noise = UnsolicitedPackets(in: site.options.networkNamespace)
        async let _ = noise.listen()
        let begun = ContinuousClock.now
        let results = await watched(probe)
        let after = PacketCounters(in: site.options.networkNamespace)
        let dropped = noise.removed(from: after.dropped(since: before), in: .now - begun)
        return LineOutcome(
            results: results,
            dropped: dropped,
            isReversePathFiltered: after.isFiltered(since: before),
            underlay: await underlay
        )
    }

    /// Runs probes, and marks in their results whether two stations used the gateway's address meanwhile.
    private func watched(_ probe: () async -> [ProbeResult]) async -> [ProbeResult] {
        let lines = site.lines.map { (prober: $0.prober, recorder: HardwareAddressRecorder()) }
        async let _ = withTaskGroup(of: Void.self) { group in
            for (prober, recorder) in lines { group.addTask { await recorder.watch(prober.line) } }
        }
        var results = await probe()
        for (prober, recorder) in lines where recorder.isContested {
            for index in results.indices
            where results[index].kind == .gateway && results[index].request.binding.family == prober.family {
                results[index].evidence.neighbour?.isContested = true
            }
        }
        return results
    }

    private func below() async -> [CheckEvidence] {
        guard let end = site.lines.lazy.compactMap(\.prober.line.tunnelEnd).first else { return [] }
        return await UnderlayRound(site: site, end: end, clock: clock).run().map { [$0] } ?? []
    }

    private func probe() async -> [ProbeResult] {
        // The kernel has no path, so no packet is sent.
        if site.lines.isEmpty { return [] }
        return await withTaskGroup(of: (Part, [ProbeResult]).self) { group in
            var pending: [Part: Int] = [:]
            func add(_ part: Part, _ work: @escaping @Sendable () async -> [ProbeResult]) {
                pending[part, default: 0] += 1
                group.addTask { (part, await site.out.during(part.rawValue, work)) }
            }
            for (index, line) in site.lines.enumerated() {
                add(.hops) { await hops(line) }
                // On a metered line, one family is sufficient.
                if index == 0 || !isThrifty { add(.interception) { await interception(line) } }
            }
            for (index, server) in (site.servers ?? []).enumerated() {
                add(.names) { await query(server, isFirst: index == 0) }
                for name in site.options.expectedAddresses.keys.sorted() {
                    add(.names) { await names.questions(to: server, about: name, .expected(name), limit: clock.left) }
                }
            }
            for anchor in site.options.anchors {
                add(anchor.url.scheme == .https ? .secureAnchors : .anchors) { await prove(anchor) }
            }
            if let api = site.options.portalAPI {
                add(.portal) { await queryPortal(api) }
            }
            var results: [ProbeResult] = []
            for await (part, found) in group {
                pending[part, default: 1] -= 1
                results += found
                let vital: [Part] =
                    isPrivate ? [.names, .interception, .portal] : [.names, .anchors, .secureAnchors, .portal]
                if vital.allSatisfy({ pending[$0, default: 0] == 0 }), works(results) { group.cancelAll() }
                // If a device intercepts all connections, only a certificate could show that the unassigned address is really in use.
                if pending[.secureAnchors, default: 0] == 0,
                    evidence(results).valid.contains(where: { $0.request.subject == .unassigned && $0.looksCaptive })
                {
                    group.cancelAll()
                }
            }
            return results
        }
    }

    private func evidence(_ results: [ProbeResult]) -> CheckEvidence {
        var evidence = CheckEvidence(site)
        evidence.results = results
        return evidence
    }

    /// Returns whether each family works on its own.
    private func works(_ results: [ProbeResult]) -> Bool {
        let evidence = evidence(results)
        return site.lines.allSatisfy { line in
            CheckJudge.judge(FamilyView(line.prober.family, evidence))?.place == .works
        }
    }

    // MARK: Gateway and interception

    /// Probes the gateway and the router behind it. Anchors are probed first, because their answers prove both.
    private func hops(_ line: CheckSite.Line) async -> [ProbeResult] {
        guard await isNeeded() else { return [] }
        async let gateway = line.prober.gateway(towards: line.direction, limit: clock.left)
        let hop = await line.prober.secondHop(towards: line.direction, limit: clock.left)
        if hop.contains(where: { $0.outcome == .answered }) { _ = hasHop[line.prober.family]?.take() }
        return await gateway + hop
    }

    /// Requests a page from an address that no host has.
    private func interception(_ line: CheckSite.Line) async -> [ProbeResult] {
        guard let address = line.unassigned, await isNeeded() else { return [] }
        // A portal over IPv4 is a sufficient result.
        if line.prober.family == .ipv6, site.lines.count > 1 {
            guard await clock.hasPassed(Self.nextFamily) else { return [] }
        }
        return [await InterceptionRound.page(line.prober, address, limit: clock.left(atMost: InterceptionRound.nearby))]
    }

    /// The time that the first family has before the second is probed too.
    private static let nextFamily = Duration.milliseconds(100)
    /// The time that anchors have before other destinations are probed too.
    private static let anchorsFirst = Duration.milliseconds(250)

    private func isNeeded() async -> Bool {
        if isPrivate { return true }
        return await clock.hasPassed(Self.anchorsFirst)
    }

    // MARK: Names

    /// Queries a server for a known name, and then for a name that does not exist. If a silent server answers other packets, the fault is
    /// in DNS and not on the uplink.
    private func query(_ server: IPAddress, isFirst: Bool) async -> [ProbeResult] {
        guard var prober = try? site.prober(to: server).prober, let known = DNSName("ipv4only.arpa") else { return [] }
        // The other servers are queried one time less, which limits the cost of a round.
        if !isFirst { prober.tries = [.zero, .milliseconds(700)] }
        let asking = prober
        func query(_ name: DNSName, _ purpose: NamePurpose, _ type: DNSRecordType) async -> ProbeResult {
            let question = DNSQuestion(name, type, identifier: nonce.identifier)
            return await asking.query(server, purpose, question, limit: clock.left)
        }
        async let life = signs(of: server, asking)
        let first = await query(known, .known, .a)
        guard first.outcome == .answered, !clock.isOver, !isThrifty else { return [first] + (await life) }
        // One server is sufficient to find whether AAAA questions are answered.
        async let sixth = isFirst ? [query(known, .known, .aaaa)] : []
        var results = [first]
        if let name = nonce.inventedName {
            let invented = await query(name, .invented, .a)
            results += [invented] + (await follow(invented))
        }
        return results + (await sixth)
    }

    /// Sends an echo and a SYN to a DNS server behind the gateway after one second.
    private func signs(of server: IPAddress, _ prober: Prober) async -> [ProbeResult] {
        guard !isThrifty, prober.line.gateway != nil, prober.line.gateway != server else { return [] }
        // If no router behind the gateway answers, the fault is not at this server.
        guard await clock.hasPassed(.seconds(1)), hasHop[prober.family]?.isTaken == true else { return [] }
        let limits = (clock.left(atMost: .seconds(2)), clock.left(atMost: InterceptionRound.nearby))
        async let echo = prober.echo(.server(server, .known), to: server, limit: limits.0, tries: [.zero])
        async let stream = prober.connect(.server(server, .known), to: server, port: 53, limit: limits.1)
        return await [echo, stream]
    }

    /// Requests a page from an address that a server returned for a name that does not exist. Only the gateway and neighbours are
    /// contacted, because a portal is one of them.
    private func follow(_ invented: ProbeResult) async -> [ProbeResult] {
        guard !isPrivate, !clock.isOver, let address = invented.evidence.dns?.addresses.first,
            let (prober, path) = try? site.prober(to: address), isNearby(address, path),
            let url = try? TrustedHTTPURL("http://\(address.urlText)/")
        else { return [] }
        return [await prober.fetch(.inventedAddress, WebRequest(url, .page), at: address, limit: clock.left)]
    }

    private func isNearby(_ address: IPAddress, _ path: NetworkPath) -> Bool {
        if site.lines.contains(where: { $0.path.gateway == address }) { return true }
        guard path.gateway == nil, let type = path.interface?.type else { return false }
        return type.hasNeighbours && type != .loopback
    }
}

/// A flag that only the first caller can take. Thread-safe.
final class OnceFlag: Sendable {
    private let state = Locked(false)

    var isTaken: Bool { state.withLock { $0 } }

    func take() -> Bool {
        state.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }
}

/// Probes of anchors and of the captive portal API.
extension LineRound {
    /// Probes an anchor over each family. If a request stalls, it is repeated with small segments. If an anchor is silent, its host is sent
    /// an echo.
    func prove(_ anchor: CheckOptions.Anchor) async -> [ProbeResult] {
        let entry = await names.addresses(of: anchor.host, limit: clock.left)
        if entry.addresses.isEmpty {
            // If the name service is broken, the result proves nothing about the anchor.
            guard entry.isDenied else { return [] }
            return site.lines.map { line in
                let request = line.prober.request(.resolve, .anchor(anchor.host), nil, limit: clock.left)
                return ProbeResult(request, generation: line.prober.line.generation, .invalid(.nameNotFound))
            }
        }
        return await withTaskGroup(of: [ProbeResult].self) { group in
            for line in site.lines where !clock.isOver {
                let addressPaths = site.addressPaths(
                    to: entry.addresses.filter { $0.wire.family == line.prober.family }
                )
                group.addTask { await prove(anchor, by: addressPaths) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Probes an anchor at its addresses one after the other, until one proves internet access.
    private func prove(_ anchor: CheckOptions.Anchor, by addressPaths: [CheckSite.AddressPath]) async -> [ProbeResult] {
        await withTaskGroup(of: [ProbeResult].self) { group in
            for (index, addressPath) in addressPaths.enumerated() {
                group.addTask {
                    do { try await Task.sleep(for: CheckSite.nextAddress * index) } catch { return [] }
                    return await prove(anchor, at: addressPath.address, addressPath.prober)
                }
            }
            var results: [ProbeResult] = []
            for await found in group {
                results += found
                if found.contains(where: { $0.isVerified || $0.isEchoed }) { group.cancelAll() }
            }
            return results
        }
    }

    private func prove(
        _ anchor: CheckOptions.Anchor,
        at address: IPAddress,
        _ prober: Prober
    ) async -> [ProbeResult] {
        let (subject, request) = (
            ProbeSubject.anchor(anchor.host), WebRequest(anchor.url, .anchor(nonce: nonce.challenge))
        )
        return await withTaskGroup(of: [ProbeResult].self) { group in
            group.addTask {
                await prober.fetchBoth(subject, request, at: address, clock) { smallSegments.take() }
            }
            group.addTask {
                guard await clock.hasPassed(.seconds(1)) else { return [] }
                let limit = clock.left(atMost: .seconds(2))
                return [await prober.echo(subject, to: address, limit: limit, tries: [.zero])]
            }
            var results: [ProbeResult] = []
            for await found in group {
                results += found
                site.rest.note(found, of: anchor)
                if found.contains(where: { !$0.isEcho && $0.peerAnswered }) { group.cancelAll() }
            }
            return results.filter { $0.outcome != .cancelled }
        }
    }

    /// Queries the captive portal API, only over TLS (RFC 8908, section 4).
    func queryPortal(_ api: CheckOptions.Anchor) async -> [ProbeResult] {
        if api.url.scheme == .http {
            return site.lines.prefix(1).map { line in
                let request = line.prober.request(.portalAPI, .portal, nil, limit: clock.left)
                return ProbeResult(request, generation: line.prober.line.generation, .invalid(.notTLS))
            }
        }
        let entry = await names.addresses(of: api.host, limit: clock.left)
        guard !clock.isOver, let addressPath = site.addressPaths(to: entry.addresses).first else { return [] }
        return [
            await addressPath.prober.fetch(
                .portal,
                WebRequest(api.url, .portalAPI),
                at: addressPath.address,
                limit: clock.left
            )
        ]
    }
}
