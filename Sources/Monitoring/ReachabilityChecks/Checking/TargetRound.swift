import LinuxSupport
import NetworkReachability

/// A round of probes of a target. It ends as soon as the target answers.
struct TargetRound: Sendable {
    /// The results of a round.
    struct Outcome: Sendable {
        /// The kernel's path to the first address; nil without an address.
        var path: NetworkPath?
        var results: [ProbeResult] = []
        /// The probed addresses of the target.
        var addressPaths: [CheckSite.AddressPath] = []
    }

    let site: CheckSite
    let nonce: Nonce
    let target: CheckTarget
    let clock: RoundClock
    /// The first probe, if it was started already. The host is then an address.
    var first: RunningProbe?

    var names: AddressLookup { AddressLookup(site: site, nonce: nonce) }

    private enum Part: Sendable {
        case lookedUp(AddressLookup.Entry)
        /// The results of the probes of the target's service.
        case own([ProbeResult])
        case other([ProbeResult])
        /// The pause before the other probes has ended.
        case late
    }

    func run() async -> Outcome {
        await withTaskGroup(of: Part.self) { group in
            group.addTask { .lookedUp(await names.addresses(of: target.host, limit: clock.left)) }
            group.addTask {
                try? await Task.sleep(for: site.options.pauses.companions - clock.elapsed)
                return .late
            }
            var outcome = Outcome()
            var (pending, others, open, hasQueried, isLookedUp) = (0, 0, [CheckSite.AddressPath](), false, false)
            for await part in group {
                var addresses: [IPAddress] = []
                switch part {
                case .lookedUp(let entry):
                    outcome.results += entry.results
                    addresses = entry.addresses
                    isLookedUp = true
                case .own(let results):
                    outcome.results += results
                    pending -= 1
                case .other(let results):
                    outcome.results += results
                    others -= 1
                    // If a server is silent, the C library queries the next one only after the end of the round.
                    if !isLookedUp, hasProbes, outcome.addressPaths.isEmpty {
                        addresses = results.flatMap { $0.evidence.dns?.addresses ?? [] }
                    }
                case .late:
                    // A cancelled round also ends the pause.
                    if group.isCancelled { continue }
                    if let addressPath = open.first, hasCompanion {
                        others += 1
                        group.addTask {
                            .other([await addressPath.prober.echo(.target, to: addressPath.address, limit: clock.left)])
                        }
                    }
                }
                // The name service may know other addresses than the server that answered before it.
                addresses.removeAll { address in outcome.addressPaths.contains { $0.address == address } }
                if !addresses.isEmpty {
                    let paths = site.addressPaths(to: addresses)
                    outcome.addressPaths = paths + outcome.addressPaths
                    outcome.path = outcome.addressPaths.first?.path
                    // Addresses without a path are not probed.
                    let usable = paths.filter(\.path.status.isReachable)
                    open = usable + open
                    // The first address is probed even if the process had no processor time until the deadline.
                    for (index, addressPath) in usable.enumerated() where index == 0 || !clock.isOver {
                        for probe in probes(of: addressPath) {
                            pending += 1
                            group.addTask {
                                do { try await Task.sleep(for: CheckSite.nextAddress * index) } catch {
                                    return .own([])
                                }
                                return .own(await probe())
                            }
                        }
                    }
                }
                // The DNS servers are queried if the name is unknown or the target does not answer.
                var isTime = isLookedUp && pending == 0
                if case .late = part { isTime = true }
                if isTime, !hasQueried {
                    hasQueried = true
                    for server in servers {
                        others += 1
                        group.addTask {
                            let name = target.name ?? target.host
                            return .other(await names.questions(to: server, about: name, .target, limit: clock.left))
                        }
                    }
                }
                if answers(outcome.results) || isLookedUp && pending == 0 && (others == 0 || isRefused(outcome.results))
                {
                    group.cancelAll()
                }
            }
            return outcome
        }
    }

    /// Returns whether the host itself refuses a connection, so that no other probe is needed.
    private func isRefused(_ results: [ProbeResult]) -> Bool {
        results.contains { $0.outcome == .refused(.peer) }
    }

    private func answers(_ results: [ProbeResult]) -> Bool {
        var evidence = CheckEvidence(site, target)
        evidence.results = results
        return TargetStage.answers(evidence) != nil
    }

    // MARK: Probes

    private func probes(of addressPath: CheckSite.AddressPath) -> [@Sendable () async -> [ProbeResult]] {
        let (prober, address) = (addressPath.prober, addressPath.address)
        switch target.service {
        case .any:
            return [
                { await continueFirst { [await prober.echo(.target, to: address, limit: clock.left)] } },
                { [await prober.connect(.target, to: address, port: 443, limit: clock.left)] },
                { [await prober.connect(.target, to: address, port: 80, limit: clock.left)] },
            ]
        case .echo:
            let echo = { @Sendable in
                await continueFirst { [await prober.echo(.target, to: address, limit: clock.left, orReset: true)] }
            }
            guard first?.replacesEcho == true else { return [echo] }
            // The host may have reached its limit of ICMP errors.
            return [echo, { [await prober.reset(.target, of: address, limit: clock.left)] }]
        case .tcp(let port):
            return [
                { await continueFirst { [await prober.connect(.target, to: address, port: port, limit: clock.left)] } }
            ]
        case .web(let url):
            return [{ await fetch(url, along: addressPath) }]
        case .handshake(let url, let dialogue):
            var request = WebRequest(url, .handshake)
            request.startTLS = dialogue
            if dialogue != nil { request.patience = min(site.options.timeLimit * 2, .seconds(7)) }
            return [{ [request] in await prober.fetchBoth(.target, request, at: address, clock) }]
        case .name: return []
        case .dns(let query):
            return [{ [await prober.query(target: address, query, nonce.identifier, limit: clock.left)] }]
        case .ssh(let port):
            let keys = target.hostKeys
            return [{ [await prober.identifySSH(at: address, port: port, expecting: keys, limit: clock.left)] }]
        case .ntp(let port):
            let stratum = target.maximumStratum
            return [{ [await prober.queryTime(of: address, port: port, stratum: stratum, limit: clock.left)] }]
        }
    }

    /// Takes over the first probe if it was started. Sends a new probe otherwise, and if the first was skipped or cancelled.
    private func continueFirst(_ probe: () async -> [ProbeResult]) async -> [ProbeResult] {
        guard let first else { return await probe() }
        let result = await first.result()
        switch result.outcome {
        // A cancelled probe has a cost.
        case .cancelled: return await [result] + probe()
        case .skipped: return await probe()
        default: return [result]
        }
    }

    /// Whether addresses of the target are probed.
    private var hasProbes: Bool { if case .name = target.service { false } else { true } }

    /// Whether an echo helps to distinguish a host that is down from a filtered port.
    private var hasCompanion: Bool {
        switch target.service {
        case .any, .echo: false
        case .tcp, .web, .handshake, .dns, .ssh, .ntp: true
        case .name: false
        }
    }

    /// The DNS servers that are queried for the name of the target. None for an address, or a name with fixed addresses.
    private var servers: [IPAddress] {
        guard target.name != nil, site.options.resolution(of: target.host) == nil, site.options.nameServers == nil,
            !Task.isCancelled
        else { return [] }
        return site.servers ?? []
    }
}

/// The deadline that all probes of a round share.
struct RoundClock: Sendable {
    let begun: ContinuousClock.Instant
    private let limit: Duration
    private let deadline: ContinuousClock.Instant

    init(limit: Duration, begun: ContinuousClock.Instant = .now) {
        (self.limit, self.begun) = (limit, begun)
        deadline = begun + limit
    }

    /// The minimum time for another probe. Silence for a shorter time proves nothing.
    private static let least = Duration.milliseconds(100)

    /// True if it is too late for another probe.
    var isOver: Bool { deadline - .now < Self.least }

    var elapsed: Duration { .now - begun }

    /// The time limit of a probe that starts now: the rest of the round, but at least 1 s or the limit of the round.
    ///
    /// A probe can start late if a name was resolved slowly or the process had no processor time. A wait of a few milliseconds does not
    /// show that the peer is silent. 1 s is the initial retransmission timeout of TCP (RFC 6298).
    var left: Duration { max(deadline - .now, min(limit, .seconds(1))) }

    /// Returns the rest of the round, but at most `limit`.
    func left(atMost limit: Duration) -> Duration { min(left, limit) }

    /// Waits before a later probe.
    ///
    /// - Returns: True if the probe may start, false if the task is cancelled or it is too late.
    func hasPassed(_ time: Duration) async -> Bool {
        guard .now + time + Self.least <= deadline else { return false }
        do { try await Task.sleep(for: time) } catch { return false }
        return !isOver
    }

    /// The additional time for a test with small segments.
    var smallSegments: Duration { min(limit, .milliseconds(2600)) }
}
