import LinuxSupport
import NetworkReachability

/// The round trips of ICMP echoes that were sent to a host one after the other.
package struct EchoBurst: Hashable, Sendable {
    /// The round trips of the answered echoes, in the order in which they were sent.
    package var roundTrips: [Duration] = []
    /// The number of echoes that were sent.
    package var sent = 0

    package init(roundTrips: [Duration] = [], sent: Int = 0) {
        (self.roundTrips, self.sent) = (roundTrips, sent)
    }

    package var lost: Int { max(0, sent - roundTrips.count) }

    /// The maximum time of one echo.
    package static let timeLimit = Duration.seconds(2)
    /// The minimum time between the starts of two echoes.
    fileprivate static let spacing = Duration.milliseconds(200)
}

extension CheckEngine {
    /// Sends ICMP echoes to the first address of a host that has a path.
    ///
    /// The next echo is sent when the last one has been answered or after ``EchoBurst/timeLimit``, so that a slow line does not queue them.
    ///
    /// - Returns: The results; nil if no echo could be sent, or if the task is cancelled.
    /// - Throws: ``CheckError`` if no probe can be sent.
    package func burst(_ target: CheckTarget, count: Int) async throws(CheckError) -> EchoBurst? {
        try await RuntimeWarmUp.run()
        let context = try contexts.current()
        let names = AddressLookup(site: context.site, nonce: context.nonce)
        let addresses = await names.addresses(of: target.host, limit: EchoBurst.timeLimit).addresses
        guard let route = context.site.addressPaths(to: addresses).first, route.path.status.isReachable else {
            return nil
        }
        var burst = EchoBurst()
        for _ in 0..<count {
            let begun = ContinuousClock.now
            let limit = EchoBurst.timeLimit
            let result = await route.prober.echo(.target, to: route.address, limit: limit, tries: [.zero])
            // Without permission for echoes, another probe was sent, whose answers hosts limit.
            guard !Task.isCancelled, result.request.kind == .echo else { return nil }
            switch result.outcome {
            case .skipped, .cancelled, .blockedHere: break
            case .answered:
                burst.sent += 1
                if let time = result.evidence.kernelRoundTrip ?? result.phases[.request] {
                    burst.roundTrips.append(time)
                }
            default: burst.sent += 1
            }
            do { try await Task.sleep(until: begun + EchoBurst.spacing) } catch { return nil }
        }
        return burst.sent > 0 ? burst : nil
    }
}
