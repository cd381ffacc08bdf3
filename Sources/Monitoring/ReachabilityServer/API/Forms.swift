package import LinuxSupport
package import NIOHTTP1

/// What is told, in the form the client would like best.
extension WebAnswer {
    /// A list.
    ///
    /// - Throws: ``Problem`` for a parameter that nobody asked about.
    package static func list(_ page: Page, _ query: Query, _ request: WebRequest) throws(Problem) -> WebAnswer {
        try query.checkNames()
        let representation = Representation(of: request)
        var answer = WebAnswer(type: representation.contentType, page.bytes(as: representation))
        answer.headers.append(("Vary", "Accept"))
        if let next = page.next { answer.headers.append(("Link", "<\(query.link(after: next))>; rel=\"next\"")) }
        return answer.tagged(for: request)
    }

    /// One thing.
    ///
    /// - Parameter isTagged: Whether the answer has an entity tag.
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

    /// What is told in JSON alone.
    package static func one(_ object: JSONObject) -> WebAnswer {
        WebAnswer(type: Representation.json.contentType, object.bytes)
    }

    /// The same answer, for what is another thing each time.
    package var unstored: WebAnswer {
        var answer = self
        answer.headers.append(("Cache-Control", "no-store"))
        return answer
    }

    /// The service is there, and answers.
    package static let healthy = WebAnswer(type: Representation.text.contentType, Array("ok\n".utf8))
}
