import LinuxSupport
import NetworkReachability
import ServerTrust
import ServerTrustNIO

/// Requests to web targets and their redirects.
extension TargetRound {
    /// Sends the request of a web target, and follows redirects as far as the target permits.
    ///
    /// The result of the last request replaces those before it, with the costs and durations of all.
    func fetch(_ url: TrustedHTTPURL, along addressPath: CheckSite.AddressPath) async -> [ProbeResult] {
        var request = WebRequest(url, target.exchange)
        let first = await addressPath.prober.fetchBoth(
            .target,
            request,
            at: addressPath.address,
            clock,
            mayRepeat: { [request] in request.exchange.isSafe }
        )
        guard first.count == 1, target.exchange.redirects > 0, var result = first.first else { return first }
        while result.outcome == .answered, let status = result.evidence.http?.status,
            let location = result.evidence.http?.redirect
        {
            guard request.redirects > 0 else {
                result.outcome = .invalid(.tooManyRedirects)
                result.evidence.detail = "it redirects more than \(target.exchange.redirects) times"
                break
            }
            guard !clock.isOver else {
                result.outcome = .invalid(.stalled)
                result.evidence.detail = "its redirects take too long"
                break
            }
            guard let next = request.redirected(status, to: location) else {
                result.outcome = .invalid(.redirectFailed)
                result.evidence.detail = "it redirects to a location that is not a URL"
                break
            }
            request = next
            result = await follow(next, from: result, url, along: addressPath)
        }
        return [result]
    }

    /// Sends the request that follows a redirect.
    ///
    /// - Parameters:
    ///   - before: The result of the previous request.
    ///   - url: The URL of the target.
    private func follow(
        _ request: WebRequest,
        from before: ProbeResult,
        _ url: TrustedHTTPURL,
        along addressPath: CheckSite.AddressPath
    ) async -> ProbeResult {
        let isOwn = request.url.host == url.host
        let place = isOwn ? addressPath : await self.addressPath(to: "\(request.url.host)")
        var result = before
        let shown = "\(request.url)".secretsMasked
        if let place {
            result = await place.prober.fetch(.target, request, at: place.address, limit: clock.left)
            result.cost = result.cost + before.cost
            result.phases.merge(before.phases) { $0 + $1 }
            // Other probes of the target concern its own address.
            (result.request.binding, result.request.destination) = (before.request.binding, before.request.destination)
            result.request.port = before.request.port
        }
        if result.outcome == .cancelled { return result }
        result.evidence.http?.finalURL = shown
        if !isOwn, place == nil || result.evidence.http == nil && result.evidence.tls == nil {
            // The target has answered, but silence of another host is no fault of the target. The uplink is checked first.
            let cost = result.cost
            result = ProbeResult(before.request, generation: before.generation, .invalid(.redirectFailed))
            (result.cost, result.evidence.http) = (cost, before.evidence.http)
            result.evidence.detail = "it redirects to \(shown), which does not answer"
        } else {
            result.keepCertificate(of: before, redirectedTo: isOwn ? nil : shown)
        }
        return result
    }

    /// Returns the first address of a host with a path.
    private func addressPath(to host: String) async -> CheckSite.AddressPath? {
        let entry = await names.addresses(of: host, limit: clock.left)
        return site.addressPaths(to: entry.addresses).first { $0.path.status.isReachable }
    }
}

extension ProbeResult {
    /// Replaces the certificate by that of the target, and names the other host in a fault of its TLS.
    ///
    /// - Parameters:
    ///   - before: The result of the request that was redirected.
    ///   - url: The URL, if it is that of another host than the target.
    mutating func keepCertificate(of before: ProbeResult, redirectedTo url: String?) {
        if let url, let fault = faultOfTLS {
            evidence.detail = "it redirects to \(url), with which TLS fails: \(fault)"
        }
        evidence.tls = before.evidence.tls ?? (url == nil ? evidence.tls : nil)
    }
}
