import LinuxSupport
import NetworkReachability
import ServerTrustNIO

/// The internet, and what the network says of itself.
extension LineRound {
    /// Asks an anchor over each family, and once more with small segments where it stalls; its host for an echo where it is silent.
    func prove(_ anchor: CheckOptions.Anchor) async -> [ProbeResult] {
        let entry = await names.addresses(of: anchor.host, limit: clock.left)
        if entry.addresses.isEmpty {
            // Where the name service is broken nothing is known of the anchor; a name that does not exist proves nothing.
            guard entry.isDenied else { return [] }
            return site.lines.map { line in
                let request = line.prober.request(.resolve, .anchor(anchor.host), nil, limit: clock.left)
                return ProbeResult(request, generation: line.prober.line.generation, .invalid(.nameNotFound))
            }
        }
        return await withTaskGroup(of: [ProbeResult].self) { group in
            for line in site.lines where !clock.isOver {
                let ways = site.ways(to: entry.addresses.filter { $0.wire.family == line.prober.family })
                group.addTask { await prove(anchor, by: ways) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Asks an anchor at one address after the other, until one proves the internet.
    private func prove(_ anchor: CheckOptions.Anchor, by ways: [CheckSite.Way]) async -> [ProbeResult] {
        await withTaskGroup(of: [ProbeResult].self) { group in
            for (index, way) in ways.enumerated() {
                group.addTask {
                    do { try await Task.sleep(for: CheckSite.nextAddress * index) } catch { return [] }
                    return await prove(anchor, at: way.address, way.prober)
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
                if found.contains(where: { !$0.isEcho && $0.peerSpoke }) { group.cancelAll() }
            }
            return results.filter { $0.outcome != .cancelled }
        }
    }

    /// Over TLS only (RFC 8908, section 4): anybody could say the same without.
    func askPortal(_ api: CheckOptions.Anchor) async -> [ProbeResult] {
        if api.url.scheme == .http {
            return site.lines.prefix(1).map { line in
                let request = line.prober.request(.portalAPI, .portal, nil, limit: clock.left)
                return ProbeResult(request, generation: line.prober.line.generation, .invalid(.notTLS))
            }
        }
        let entry = await names.addresses(of: api.host, limit: clock.left)
        guard !clock.isOver, let way = site.ways(to: entry.addresses).first else { return [] }
        return [await way.prober.fetch(.portal, WebRequest(api.url, .portalAPI), at: way.address, limit: clock.left)]
    }
}
