import LinuxSupport
package import NIOHTTP1

/// Why a request is not answered as it was meant, in one sentence that says what to do.
///
/// Source: RFC 9457.
package struct Problem: Error {
    package let status: HTTPResponseStatus
    package let detail: String
    /// Header fields that belong to it, such as `Allow`.
    package var headers: [(name: String, value: String)] = []

    package init(_ status: HTTPResponseStatus, _ detail: String, headers: [(name: String, value: String)] = []) {
        (self.status, self.detail, self.headers) = (status, detail, headers)
    }

    /// The answer that tells of it.
    package func answer(as representation: Representation) -> WebAnswer {
        var answer: WebAnswer
        if representation == .text {
            answer = WebAnswer(status, type: Representation.text.contentType, Array((detail.printable + "\n").utf8))
        } else {
            var object = JSONObject()
            object.add("type", "about:blank")
            object.add("title", status.reasonPhrase)
            object.add("status", status.code)
            object.add("detail", detail)
            answer = WebAnswer(status, type: "application/problem+json", object.bytes)
        }
        answer.headers += headers
        return answer
    }
}
