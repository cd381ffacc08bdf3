import NIOHTTP1
import ServerTrustHTTP

extension WebRequest {
    /// All that is sent: nothing of it tells one machine from another.
    var head: HTTPRequestHead {
        var headers = HTTPHeaders([
            ("Host", url.authority), ("Connection", "close"), ("User-Agent", "reachability-check"),
            ("Accept", purpose == .portalAPI ? "application/captive+json" : "*/*"),
        ])
        if case .anchor(let nonce) = purpose { headers.add(name: "Reachability-Challenge", value: nonce) }
        return HTTPRequestHead(version: .http1_1, method: .GET, uri: url.target, headers: headers)
    }
}
