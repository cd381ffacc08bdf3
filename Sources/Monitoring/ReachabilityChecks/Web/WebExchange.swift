package import LinuxSupport
import ServerTrust
import ServerTrustNIO

/// The request of a check to a web server of the user, and the requirements for the response.
package struct WebExchange: Hashable, Sendable {
    /// A header field of the request.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            (self.name, self.value) = (name, value)
        }
    }

    /// A value that the JSON of the response must contain.
    package struct JSONRequirement: Hashable, Sendable {
        package let pointer: JSONPointer
        package let value: JSONValue

        package init(_ pointer: JSONPointer, _ value: JSONValue) {
            (self.pointer, self.value) = (pointer, value)
        }
    }

    package var method = "GET"
    /// The header fields, which may contain credentials. They and the body are sent to the origin of the URL only.
    package var headers: [Field] = []
    package var body: [UInt8] = []
    /// The maximum number of redirects that are followed. If 0, a redirect is the response.
    package var redirects = 0
    /// The accepted statuses. If nil, all statuses below 500.
    package var expectedStatus: ClosedRange<Int>?
    /// A text that the body must contain; nil for any body.
    package var content: String?
    /// A pattern that a part of the body must match; nil for any body.
    package var pattern: TextPattern?
    /// The required values. If not empty, the whole body must be JSON.
    package var values: [JSONRequirement] = []

    package init() {}

    /// True if the body of the response has requirements.
    var readsContent: Bool { content != nil || pattern != nil || !values.isEmpty }

    /// Returns whether the beginning of a body contains the expected text and pattern. Nil if a whole body is required.
    var searches: (@Sendable ([UInt8]) -> Bool)? {
        guard values.isEmpty, content != nil || pattern != nil else { return nil }
        return { [content, pattern] body in
            if let content, body[...].firstRange(of: Array(content.utf8)) == nil { return false }
            return pattern?.matches(body, isWhole: false) ?? true
        }
    }

    /// True if a repetition of the request changes nothing on the server (RFC 9110, 9.2.1).
    var isSafe: Bool { ["GET", "HEAD", "OPTIONS"].contains(method) }

    /// Returns the exchange after a redirect.
    ///
    /// - Parameters:
    ///   - status: The status of the redirect. With 303, and after POST also with 301 and 302, the next method is GET (RFC 9110, 15.4).
    ///   - isSameOrigin: False if the next request must not contain the header fields and the body.
    func redirected(_ status: Int, isSameOrigin: Bool) -> WebExchange {
        var next = self
        if status == 303 && method != "HEAD" || status < 303 && method == "POST" {
            (next.method, next.body) = ("GET", [])
            next.headers.removeAll { $0.name.lowercased() == "content-type" }
        }
        if !isSameOrigin { (next.headers, next.body) = ([], []) }
        return next
    }

    /// Returns the first difference between a body and the requirements, as a part of a sentence. Nil if there is none.
    func problem(in body: [UInt8]) -> String? {
        // The search ends after a fixed number of bytes, but incomplete JSON has no value.
        let searched = body.prefix(WebLimits.content)
        if let content, searched.firstRange(of: Array(content.utf8)) == nil {
            return "its body does not contain the expected text"
        }
        if let pattern, !pattern.matches(searched) { return "its body does not match the expected pattern" }
        if values.isEmpty { return nil }
        guard searched.count == body.count else { return "its JSON is longer than \(WebLimits.content) bytes" }
        guard let document = JSONValue(body) else { return "its body is not JSON with at most 16 levels" }
        for requirement in values {
            let name = requirement.pointer.text.isEmpty ? "its JSON" : requirement.pointer.text
            guard let found = requirement.pointer.value(in: document) else { return "its JSON has no value \(name)" }
            if !found.equals(requirement.value) { return "\(name) is \(found.short), not \(requirement.value.short)" }
        }
        return nil
    }
}

/// A path to a value in a JSON document (RFC 6901).
package struct JSONPointer: Hashable, Sendable {
    package let text: String
    private let steps: [String]

    /// Parses a pointer: empty, or each step after a slash. Nil for another text.
    package init?(_ text: String) {
        guard text.isEmpty || text.utf8.first == UInt8(ascii: "/"), text.utf8.count <= 256 else { return nil }
        var steps: [String] = []
        for step in text.split(at: "/", omittingEmptySubsequences: false).dropFirst() {
            let rest = step.replacing(scalars: "~0", with: "").replacing(scalars: "~1", with: "")
            guard !rest.utf8.contains(UInt8(ascii: "~")) else { return nil }
            steps.append(step.replacing(scalars: "~1", with: "/").replacing(scalars: "~0", with: "~"))
        }
        (self.text, self.steps) = (text, steps)
    }

    /// Returns the value; nil if the document has none.
    package func value(in document: JSONValue) -> JSONValue? {
        var value = document
        for step in steps {
            switch value {
            case .object(let members):
                guard let member = members[step] else { return nil }
                value = member
            case .array(let elements):
                // An index has no sign and no leading zeros.
                guard let index = Int(step), String(index) == step, elements.indices.contains(index) else { return nil }
                value = elements[index]
            default: return nil
            }
        }
        return value
    }
}

extension JSONValue {
    /// Returns whether two values are equal. Numbers are compared by value, so that `1.0` equals `1`.
    func equals(_ other: JSONValue) -> Bool {
        if case .number(let one) = self, case .number(let two) = other {
            return one == two || Double(one) == Double(two)
        }
        return self == other
    }

    /// The value as a short text for a sentence.
    fileprivate var short: String {
        switch self {
        case .string(let text): text.unicodeScalars.count > 64 ? "a text of \(text.utf8.count) bytes" : "\"\(text)\""
        case .number(let text): String(text.prefix(32))
        case .bool(let truth): "\(truth)"
        case .null: "null"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension WebRequest {
    /// Returns the request that follows a redirect. Nil if the location is not a URL of a web server.
    func redirected(_ status: Int, to location: String) -> WebRequest? {
        guard let next = url.resolving(location) else { return nil }
        var request = self
        let isSameOrigin = next.scheme == url.scheme && next.host == url.host && next.port == url.port
        (request.url, request.redirects) = (next, redirects - 1)
        request.exchange = exchange.redirected(status, isSameOrigin: isSameOrigin)
        return request
    }
}

extension TrustedHTTPURL {
    /// Resolves a reference, such as the value of `Location`, against this URL (RFC 3986, 5.2). Dot segments are not removed. Nil if the
    /// result is not a URL of http or https.
    func resolving(_ reference: String) -> TrustedHTTPURL? {
        let origin = "\(scheme.rawValue)://\(authority)"
        let path = target.prefix { $0 != "?" }
        let text: String
        if reference.hasPrefix("//") {
            text = "\(scheme.rawValue):\(reference)"
        } else if reference.hasPrefix("/") {
            text = origin + reference
        } else if reference.hasPrefix("?") {
            text = "\(origin)\(path)\(reference)"
        } else if reference.prefix(8).lowercased().hasPrefix("http:")
            || reference.prefix(8).lowercased().hasPrefix("https:")
        {
            text = reference
        } else if let scheme = reference.utf8.prefix(while: { !"/?#".utf8.contains($0) }).firstIndex(
            of: UInt8(ascii: ":")
        ),
            scheme > reference.startIndex
        {
            return nil
        } else {
            let directory = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? "/"
            text = "\(origin)\(directory)\(reference)"
        }
        return try? TrustedHTTPURL(text)
    }
}
