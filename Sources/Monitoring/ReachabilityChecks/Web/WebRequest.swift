import NIOHTTP1
import ServerTrustNIO

/// A request of a web probe, and its expected response.
struct WebRequest: Hashable, Sendable {
    /// The purpose of a request, which determines the expected response.
    enum Purpose: Hashable, Sendable {
        /// A request to an anchor. An echoed nonce or a trusted certificate proves internet access.
        case anchor(nonce: String)
        /// A request to a server of the user, see ``WebRequest/exchange``.
        case target
        /// A handshake with a server of the user, which must show a certificate. No request is sent.
        case handshake
        /// A request to an address without a server. Any response counts.
        case page
        /// A request to the captive portal API of the network (RFC 8908).
        case portalAPI
    }

    var url: TrustedHTTPURL
    var purpose: Purpose
    /// The request to a target, and the requirements for its response.
    var exchange = WebExchange()
    /// The dialogue that precedes TLS; nil for none.
    var startTLS: StartTLS?
    /// The time after the limit that a server has for the dialogue. Some mail servers delay their greeting against spam.
    var patience = Duration.zero
    /// The number of redirects that may still be followed.
    var redirects = 0
    /// Whether any response is sufficient.
    var isTrial = false

    init(_ url: TrustedHTTPURL, _ purpose: Purpose) {
        (self.url, self.purpose) = (url, purpose)
    }

    /// Creates a request to a server of the user.
    init(_ url: TrustedHTTPURL, _ exchange: WebExchange) {
        self.init(url, .target)
        (self.exchange, redirects) = (exchange, exchange.redirects)
    }

    /// The kind of the probe result.
    var kind: ProbeKind {
        switch purpose {
        case .portalAPI: .portalAPI
        case .handshake: .tls
        case .anchor, .target, .page: .http
        }
    }
}

/// The limits for responses, in bytes unless another unit is given.
enum WebLimits {
    /// The maximum size of the head.
    static let head = 16 * 1024
    /// The maximum length of `Location` in characters.
    static let location = 2048
    /// The maximum size of a captive portal API's body. A longer body is refused.
    static let portal = 4 * 1024
    /// The number of body bytes that are searched for an expected content.
    static let content = 256 * 1024
    /// Returns the maximum number of received bytes, including heads, TLS and the encoding of the body.
    static func bytes(_ purpose: WebRequest.Purpose) -> Int {
        switch purpose {
        // A document of RFC 8908 has a few hundred bytes.
        case .portalAPI: 16 * 1024
        case .page, .anchor, .target, .handshake: 64 * 1024
        }
    }

    /// Returns the maximum number of bytes received after the request.
    static func bytesAfterwards(_ purpose: WebRequest.Purpose) -> Int {
        purpose == .portalAPI ? portal + 2 * 1024 : bytes(purpose)
    }

    /// The number of bytes after the request that prove that segments arrive.
    static let trial = 4 * 1024
    /// The maximum number of reads.
    static let reads = 1024
    /// The maximum number of bytes of one read.
    static let read = 8 * 1024

    /// Returns the number of body bytes that are sufficient. It is more than one segment, because large segments may be lost.
    static func enough(_ purpose: WebRequest.Purpose) -> Int {
        switch purpose {
        case .page: 0
        case .portalAPI: .max
        case .anchor, .target, .handshake: 4 * 1024
        }
    }
}

extension WebRequest {
    /// The receive window in bytes. It is small because bytes in flight are wasted when enough was read. A long body would take too many
    /// round trips with a small window.
    var window: Int32 {
        if exchange.readsContent { return 128 * 1024 }
        return purpose == .portalAPI ? 4 * 1024 : 8 * 1024
    }

    /// The number of body bytes that are sufficient.
    var enough: Int { exchange.readsContent ? WebLimits.content : WebLimits.enough(purpose) }

    /// The maximum number of received bytes.
    var byteLimit: Int { WebLimits.bytes(purpose) + (exchange.readsContent ? WebLimits.content : 0) }

    /// The maximum number of bytes received after the request.
    var byteLimitAfterwards: Int {
        WebLimits.bytesAfterwards(purpose) + (exchange.readsContent ? WebLimits.content : 0)
    }

    /// The HTTP request. Unless the user adds header fields, it contains nothing that identifies the machine.
    var http: TrustedHTTPRequest {
        var headers = HTTPHeaders([
            ("User-Agent", "reachability-check"),
            ("Accept", purpose == .portalAPI ? "application/captive+json" : "*/*"),
        ])
        if case .anchor(let nonce) = purpose { headers.add(name: "Reachability-Challenge", value: nonce) }
        for field in exchange.headers { headers.replaceOrAdd(name: field.name, value: field.value) }
        let method = HTTPMethod(rawValue: exchange.method)
        return TrustedHTTPRequest(url: url, method: method, headers: headers, body: exchange.body)
    }

    func settings(limit: Duration) -> TrustedHTTPSettings {
        var settings = TrustedHTTPSettings()
        settings.timeLimit = limit + patience
        settings.maximumHeaderBytes = WebLimits.head
        settings.maximumBodyBytes = purpose == .portalAPI ? WebLimits.portal : .max
        settings.sufficientBodyBytes = purpose == .portalAPI ? nil : enough
        settings.endsWithHandshake = purpose == .handshake
        settings.omitsClosingAlert = true
        return settings
    }
}
