import NIOHTTP1
package import ServerTrustNIO

/// What one request of HTTP asks and expects. Its answer is never followed to another place.
package struct WebRequest: Hashable, Sendable {
    /// What is asked for, and what counts as an answer.
    package enum Purpose: Hashable, Sendable {
        /// An anchor, which sends a random number back: that, or a certificate that is trusted, proves the internet.
        case anchor(nonce: String)
        /// A server of the user's: any status below 500, unless ``WebRequest/expectedStatus`` says otherwise.
        case target
        /// A server of the user's that is to show a certificate; nothing is asked of it.
        case handshake
        /// An address that nobody should answer at: whatever comes.
        case page
        /// The network's own server: what RFC 8908 has.
        case portalAPI
    }

    package var url: TrustedHTTPURL
    package var purpose: Purpose
    /// Which statuses a target may answer; nil for any below 500.
    var expectedStatus: ClosedRange<Int>?
    /// Whether it is only to be seen that something gets through, whatever it is.
    var isTrial = false

    package init(_ url: TrustedHTTPURL, _ purpose: Purpose) {
        (self.url, self.purpose) = (url, purpose)
    }

    /// One to a server of the user's.
    ///
    /// - Parameter status: which it may answer; nil for any below 500.
    init(_ url: TrustedHTTPURL, expecting status: ClosedRange<Int>?) {
        self.init(url, .target)
        expectedStatus = status
    }

    /// As what a result of it counts.
    var kind: ProbeKind {
        switch purpose {
        case .portalAPI: .portalAPI
        case .handshake: .tls
        case .anchor, .target, .page: .http
        }
    }
}

/// How much of an answer is read, in bytes.
enum WebLimits {
    /// Of the head.
    static let head = 16 * 1024
    /// Of `Location`, in characters: more is for nobody to read.
    static let location = 2048
    /// Of the body of what the portal's own server says; who answers with more has said nothing.
    static let portal = 4 * 1024
    /// Of everything that comes in, with heads, and with what TLS and the coding of the body add.
    static func bytes(_ purpose: WebRequest.Purpose) -> Int {
        switch purpose {
        // A document of RFC 8908 has a few hundred.
        case .portalAPI: 16 * 1024
        case .page, .anchor, .target, .handshake: 64 * 1024
        }
    }

    /// The same once the request is sent: a large record of TLS need not be read to its end to know that it is large.
    static func bytesAfterwards(_ purpose: WebRequest.Purpose) -> Int {
        purpose == .portalAPI ? portal + 2 * 1024 : bytes(purpose)
    }

    /// After how many bytes behind the request it is seen that segments get through.
    static let trial = 4 * 1024
    /// How often something may come in.
    static let reads = 1024
    /// Answers before the answer (1xx).
    static let informational = 16
    /// How much may be on its way: what comes when enough was seen has been sent in vain.
    static func window(_ purpose: WebRequest.Purpose) -> Int32 { purpose == .portalAPI ? 4 * 1024 : largestWindow }
    static let largestWindow: Int32 = 8 * 1024

    /// After how much of a body the answer has been seen: more than one segment of it, for large ones may be lost.
    static func enough(_ purpose: WebRequest.Purpose) -> Int {
        switch purpose {
        case .page: 0
        case .portalAPI: .max
        case .anchor, .target, .handshake: 4 * 1024
        }
    }
}

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

    /// The same as bytes.
    var bytes: [UInt8] {
        let head = head
        var text = "\(head.method.rawValue) \(head.uri) HTTP/1.1\r\n"
        for (name, value) in head.headers { text += "\(name): \(value)\r\n" }
        return Array((text + "\r\n").utf8)
    }
}
