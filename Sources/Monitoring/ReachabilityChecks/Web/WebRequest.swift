import NIOHTTP1
import ServerTrustNIO

/// One request of a web probe, and the response that it expects. Redirects are not followed.
struct WebRequest: Hashable, Sendable {
    /// The server, and the response that it must give.
    enum Purpose: Hashable, Sendable {
        /// An anchor. A repeated random number, or a trusted certificate, proves the internet.
        case anchor(nonce: String)
        /// A server of the user: any status below 500, unless ``WebRequest/expectedStatus`` is set.
        case target
        /// A server of the user that must show a certificate. No request is sent.
        case handshake
        /// An address without a server: any response.
        case page
        /// The captive portal API of the network (RFC 8908).
        case portalAPI
    }

    var url: TrustedHTTPURL
    var purpose: Purpose
    /// The statuses that a target may answer with; nil for any below 500.
    var expectedStatus: ClosedRange<Int>?
    /// Whether any response is enough.
    var isTrial = false

    init(_ url: TrustedHTTPURL, _ purpose: Purpose) {
        (self.url, self.purpose) = (url, purpose)
    }

    /// Creates a request to a server of the user.
    ///
    /// - Parameter status: The statuses that it may answer with; nil for any below 500.
    init(_ url: TrustedHTTPURL, expecting status: ClosedRange<Int>?) {
        self.init(url, .target)
        expectedStatus = status
    }

    /// The kind of its result.
    var kind: ProbeKind {
        switch purpose {
        case .portalAPI: .portalAPI
        case .handshake: .tls
        case .anchor, .target, .page: .http
        }
    }
}

/// The limits of responses, in bytes.
enum WebLimits {
    /// Of the head.
    static let head = 16 * 1024
    /// Of `Location`, in characters.
    static let location = 2048
    /// Of the body of a captive portal API. A longer one is refused.
    static let portal = 4 * 1024
    /// Of all that comes in, including heads, TLS and the coding of the body.
    static func bytes(_ purpose: WebRequest.Purpose) -> Int {
        switch purpose {
        // A document of RFC 8908 has a few hundred.
        case .portalAPI: 16 * 1024
        case .page, .anchor, .target, .handshake: 64 * 1024
        }
    }

    /// The same after the request.
    static func bytesAfterwards(_ purpose: WebRequest.Purpose) -> Int {
        purpose == .portalAPI ? portal + 2 * 1024 : bytes(purpose)
    }

    /// The number of bytes after the request that show that segments arrive.
    static let trial = 4 * 1024
    /// The maximum number of reads.
    static let reads = 1024
    /// The receive window. Bytes on the way after enough was read are sent in vain.
    static func window(_ purpose: WebRequest.Purpose) -> Int32 {
        purpose == .portalAPI ? 4 * 1024 : Int32(largestWindow)
    }
    static let largestWindow = 8 * 1024

    /// The number of bytes of a body after which the response is complete. It is more than one segment, because large segments may be lost.
    static func enough(_ purpose: WebRequest.Purpose) -> Int {
        switch purpose {
        case .page: 0
        case .portalAPI: .max
        case .anchor, .target, .handshake: 4 * 1024
        }
    }
}

extension WebRequest {
    /// The request. Nothing in it distinguishes one machine from another.
    var http: TrustedHTTPRequest {
        var headers = HTTPHeaders([
            ("User-Agent", "reachability-check"),
            ("Accept", purpose == .portalAPI ? "application/captive+json" : "*/*"),
        ])
        if case .anchor(let nonce) = purpose { headers.add(name: "Reachability-Challenge", value: nonce) }
        return TrustedHTTPRequest(url: url, headers: headers)
    }

    func settings(limit: Duration) -> TrustedHTTPSettings {
        var settings = TrustedHTTPSettings()
        settings.timeLimit = limit
        settings.maximumHeaderBytes = WebLimits.head
        settings.maximumBodyBytes = purpose == .portalAPI ? WebLimits.portal : .max
        settings.sufficientBodyBytes = purpose == .portalAPI ? nil : WebLimits.enough(purpose)
        settings.endsWithHandshake = purpose == .handshake
        settings.omitsClosingAlert = true
        return settings
    }
}
