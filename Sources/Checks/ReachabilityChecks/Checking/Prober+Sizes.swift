import LinuxPrimitives
import NetworkReachability

extension Prober {
    /// Asks a web server, and once more with small segments where it takes the connection and then stalls.
    func fetchBoth(
        _ subject: ProbeSubject,
        _ request: WebRequest,
        at address: IPAddress,
        _ clock: RoundClock,
        mayRepeat: @Sendable () -> Bool = { true }
    ) async -> [ProbeResult] {
        let result = await fetch(subject, request, at: address, limit: clock.left)
        guard result.hasStalled, mayRepeat() else { return [result] }
        return [result, await fetchSmall(subject, request, at: address, limit: clock.smallSegments)]
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
