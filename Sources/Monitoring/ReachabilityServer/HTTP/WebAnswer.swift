import Compression
package import LinuxSupport
package import NIOHTTP1

/// The answer to a request: a complete body, a stream, or an answer that is made later.
package struct WebAnswer: Sendable {
    package var status: HTTPResponseStatus
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// Receives the stream on the thread of the server, after the head was sent. Nil for a complete answer.
    package var stream: (@Sendable (WebStream) -> Void)?
    /// The wait for an answer that replaces this one. Requests with HEAD do not wait.
    package var wait: WebWait?

    package init(_ status: HTTPResponseStatus = .ok, type: String? = nil, _ body: [UInt8] = []) {
        (self.status, self.body) = (status, body)
        headers = type.map { [("Content-Type", $0)] } ?? []
    }

    /// Returns the answer with an entity tag, or 304 if the client has the same content.
    ///
    /// Source: RFC 9110, 8.8.3 and 13.1.2.
    package func tagged(for request: WebRequest) -> WebAnswer {
        guard status == .ok else { return self }
        // The tag is weak, because the same content may also be sent compressed. A collision of hashes could only affect a client that
        // chose the contents itself.
        let tag = "W/\"\(String(body.contentHash, radix: 16))\""
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
    /// The minimum size of a body that is compressed, in bytes.
    static let compressionLimit = 1024

    /// Returns the answer with its body compressed if the client accepts gzip and the body is large enough.
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

extension WebAnswer {
    /// Returns an answer with a page of a list, in the representation that the client prefers.
    ///
    /// - Throws: ``Problem`` for an unknown parameter.
    package static func list(_ page: Page, _ query: Query) throws(Problem) -> WebAnswer {
        try query.checkNames()
        let representation = Representation(of: query.request)
        var answer = WebAnswer(type: representation.contentType, page.bytes(as: representation))
        answer.headers.append(("Vary", "Accept"))
        if let next = page.next { answer.headers.append(("Link", "<\(query.link(after: next))>; rel=\"next\"")) }
        return answer.tagged(for: query.request)
    }

    /// Returns an answer with one object, in the representation that the client prefers.
    package static func one(
        _ item: Item,
        _ request: WebRequest,
        _ status: HTTPResponseStatus = .ok,
        isTagged: Bool = true
    ) -> WebAnswer {
        let representation = Representation(of: request)
        let bytes = representation == .text ? Array((item.report + "\n").utf8) : item.object.bytes
        let type = representation == .lines ? Representation.json.contentType : representation.contentType
        var answer = WebAnswer(status, type: type, bytes)
        answer.headers.append(("Vary", "Accept"))
        return isTagged ? answer.tagged(for: request) : answer
    }

    /// Returns an answer with one object as JSON.
    package static func one(_ object: JSONObject) -> WebAnswer {
        WebAnswer(type: Representation.json.contentType, object.bytes)
    }

    /// Returns an answer with a text.
    package static func text(_ text: String, _ status: HTTPResponseStatus = .ok) -> WebAnswer {
        WebAnswer(status, type: Representation.text.contentType, Array((text + "\n").utf8))
    }

    /// A copy with `Cache-Control: no-store`.
    package var unstored: WebAnswer {
        var answer = self
        answer.headers.append(("Cache-Control", "no-store"))
        return answer
    }
}

/// An answer that is made later: after an event, after a timeout, or when the server stops.
package struct WebWait: Sendable {
    /// Starts the wait. It calls `done` once, on any thread, when the answer is due. The returned value cancels the wait, for example if
    /// the client disconnects.
    let begin: @Sendable (_ done: @escaping @Sendable () -> Void) -> Cancellation
    /// Makes the answer. Called on the thread of the server.
    let answer: @Sendable () -> WebAnswer
}

/// The error of a request: a status and a sentence that explains it.
///
/// Source: RFC 9457.
package struct Problem: Error {
    package let status: HTTPResponseStatus
    /// The error message.
    package let detail: String
    /// Additional header fields of the answer, such as `Allow`.
    package var headers: [(name: String, value: String)] = []

    package init(_ status: HTTPResponseStatus, _ detail: String, headers: [(name: String, value: String)] = []) {
        (self.status, self.detail, self.headers) = (status, detail, headers)
    }

    /// Returns the answer in a representation.
    package func answer(as representation: Representation) -> WebAnswer {
        var answer: WebAnswer
        if representation == .text {
            answer = .text(detail.printable, status)
        } else {
            answer = WebAnswer(status, type: "application/problem+json", object.bytes)
        }
        answer.headers += headers
        return answer
    }

    var object: JSONObject {
        var object = JSONObject()
        object.add("type", "about:blank")
        object.add("title", status.reasonPhrase)
        object.add("status", status.code)
        object.add("detail", detail)
        return object
    }
}
