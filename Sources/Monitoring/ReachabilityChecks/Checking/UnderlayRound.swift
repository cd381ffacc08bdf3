import LinuxSupport
import Netlink
import NetworkReachability

/// One round about the way to the far end of a tunnel, which is what its packets take in truth.
struct UnderlayRound: Sendable {
    let site: CheckSite
    let end: TunnelFarEnd
    let clock: RoundClock

    /// What there is to judge the way by; nil where the kernel has none.
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
