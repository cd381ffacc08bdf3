import LinuxSupport
import NetworkReachability

extension Prober {
    /// Sends a request. If the server accepts the connection and then stalls, sends the request once more with small segments.
    ///
    /// A server that is only slow answers the second request too. So an answer to small segments counts only if a third request, with
    /// full-sized segments, stalls again. If it does not, its result replaces those of the first two.
    func fetchBoth(
        _ subject: ProbeSubject,
        _ request: WebRequest,
        at address: IPAddress,
        _ clock: RoundClock,
        mayRepeat: @Sendable () -> Bool = { true }
    ) async -> [ProbeResult] {
        let first = await fetch(subject, request, at: address, limit: clock.left)
        guard first.hasStalled, mayRepeat() else { return [first] }
        var small = await fetchSmall(subject, request, at: address, limit: clock.smallSegments)
        guard small.outcome == .answered else { return [first, small] }
        var control = await fetch(subject, request, at: address, limit: clock.smallSegments)
        if control.hasStalled {
            small.cost = small.cost + control.cost
            return [first, small]
        }
        control.cost = first.cost + small.cost + control.cost
        return [control]
    }
}

extension ProbeResult {
    /// Whether the connection was made, and then nothing more came.
    fileprivate var hasStalled: Bool {
        phases[.connect] != nil
            && (outcome == .silent || outcome == .invalid(.stalled) || outcome == .invalid(.handshakeSilent))
    }
}

extension IPAddress {
    /// As it stands in a URL.
    var urlText: String { isIPv6 ? "[\(self)]" : "\(self)" }
}
