import Compression
import LinuxSupport
package import NIOHTTP1

/// What is answered to a request: whole, the beginning of a stream, or what is waited for.
package struct WebAnswer: Sendable {
    package var status: HTTPResponseStatus
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// Called on the server's thread when the head was sent, with what the rest is sent through; nil for an answer that is whole.
    package var stream: (@Sendable (WebStream) -> Void)?
    /// How a better answer than this one is waited for; nil where this one is all. It is not waited for where only the head is asked for.
    package var wait: WebWait?

    package init(_ status: HTTPResponseStatus = .ok, type: String? = nil, _ body: [UInt8] = []) {
        (self.status, self.body) = (status, body)
        headers = type.map { [("Content-Type", $0)] } ?? []
    }

    /// Lets a client keep the answer and ask whether it is still so: with an entity tag, 304 where it is.
    ///
    /// Source: RFC 9110, 8.8.3 and 13.1.2.
    package func tagged(for request: WebRequest) -> WebAnswer {
        guard status == .ok else { return self }
        // FNV-1a, of 64 bits: nobody gains by answers with the same one.
        let hash = body.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        // Weak, because the same content is also sent compressed.
        let tag = "W/\"\(String(hash, radix: 16))\""
        var answer = self
        answer.headers.append(("ETag", tag))
        let known = request.headers[canonicalForm: "If-None-Match"]
        if known.contains(where: { $0 == "*" || $0 == tag || "W/" + $0 == tag }) {
            answer.status = .notModified
            if body.count >= Self.compressionLimit { answer.headers.append(("Vary", "Accept-Encoding")) }
            answer.body = []
            answer.headers.removeAll { $0.name == "Content-Type" }
        }
        return answer
    }
}

extension WebAnswer {
    /// The minimum number of bytes of a body that is compressed.
    static let compressionLimit = 1024

    /// Returns the answer with its body compressed, if the client accepts that and the body is large enough.
    ///
    /// Source: RFC 9110, 8.4 and 12.5.3.
    func compressed(for request: WebRequest) -> WebAnswer {
        guard body.count >= Self.compressionLimit, !headers.contains(where: { $0.name == "Content-Encoding" }) else {
            return self
        }
        var answer = self
        answer.headers.append(("Vary", "Accept-Encoding"))
        if request.acceptsGzip, let body = Gzip.compressed(body) {
            answer.body = body
            answer.headers.append(("Content-Encoding", "gzip"))
        }
        return answer
    }
}

extension WebRequest {
    /// A Boolean value that indicates whether the client accepts the content coding gzip.
    var acceptsGzip: Bool {
        var accepts = false
        for field in headers[canonicalForm: "Accept-Encoding"] {
            let parts = field.lowercased().split(at: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            let isRefused = parts.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) ?? 0 <= 0 }
            if parts.first == "gzip" { return !isRefused }
            if parts.first == "*" { accepts = !isRefused }
        }
        return accepts
    }
}

/// The forms an answer is to be had in.
package enum Representation: Hashable, Sendable {
    /// One JSON document.
    case json
    /// Of a list, one JSON object on each line.
    case lines
    /// For people.
    case text

    /// That which a client would like best, of these: the first of `Accept` that is one of them. JSON where none is.
    package init(of request: WebRequest) {
        for type in request.headers[canonicalForm: "Accept"] {
            switch type.prefix(while: { $0 != ";" }).lowercased().filter({ $0 != " " }) {
            case "text/plain":
                self = .text
                return
            case "application/jsonl", "application/x-ndjson":
                self = .lines
                return
            case "application/json", "*/*", "text/html":
                self = .json
                return
            default: continue
            }
        }
        self = .json
    }

    package var contentType: String {
        switch self {
        case .json: "application/json"
        case .lines: "application/jsonl"
        case .text: "text/plain; charset=utf-8"
        }
    }
}
