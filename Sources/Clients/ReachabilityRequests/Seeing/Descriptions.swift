import FoundationEssentials
import LinuxSupport
public import ReachabilityRetry

// What `print` and `debugPrint` show, in Alamofire's form. Secrets are masked as in `cURLDescription()`, and text of servers is made safe.

extension OutgoingRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method and the URL.
    public var description: String { "\(method.rawValue.printable) \(Self.masked(url).printable)" }

    /// The command line of curl(1).
    public var debugDescription: String { cURLDescription() }

    fileprivate func description(_ response: ResponseHead?) -> String {
        response.map { "\(self) (\($0.statusCode))" } ?? description
    }
}

extension DataRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method and the URL, then the status if there is an answer: `GET https://example.org/ (200)`.
    public var description: String { request.description(response) }

    /// The command line of curl(1).
    public var debugDescription: String { cURLDescription() }
}

extension DownloadRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method and the URL, then the status if there is an answer.
    public var description: String { request.description(response) }

    /// The command line of curl(1).
    public var debugDescription: String { request.cURLDescription() }
}

extension DataStreamRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method and the URL, then the status if the answer has ended.
    public var description: String { request.description(completion?.response) }

    /// The command line of curl(1).
    public var debugDescription: String { request.cURLDescription() }
}

extension FailedRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method and the URL, then the status if there was an answer.
    public var description: String { OutgoingRequest(request).description(response) }

    /// The command line of curl(1).
    public var debugDescription: String { OutgoingRequest(request).cURLDescription() }
}

extension OutgoingRequest {
    fileprivate init(_ plain: PlainRequest) {
        let headers = HTTPHeaders(plain.fields.map { HTTPHeader(name: $0.name, value: $0.value) })
        self.init(url: plain.url, method: plain.method, headers: headers)
    }
}

extension DataResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// The result.
    public var description: String { "\(result)" }

    /// The request, the answer, how long both took, and the result.
    public var debugDescription: String {
        let body = response.map { DebugText.body(data.map { [UInt8]($0) }, of: $0.headers) } ?? []
        let serialization = "[Serialization Duration]: \(serializationDuration)s"
        return DebugText.lines(of: request, response, body, metrics, [serialization, "[Result]: \(result)"])
    }
}

extension DownloadResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// The result.
    public var description: String { "\(result)" }

    /// The request, the answer, how long both took, and the result.
    public var debugDescription: String {
        DebugText.lines(of: request, response, [], metrics, ["[Result]: \(result)"])
    }
}

private enum DebugText {
    /// A longer body is shown by its length.
    private static let longestBody = 100_000

    static func lines(
        of request: OutgoingRequest,
        _ response: ResponseHead?,
        _ responseBody: [String],
        _ metrics: RequestMetrics,
        _ end: [String]
    ) -> String {
        var lines = ["[Request]: \(request)"] + indented(headers(request.headers) + body(of: request))
        if let response {
            let head = ["[Status Code]: \(response.statusCode)"] + headers(response.headers)
            lines += ["[Response]:"] + indented(head + responseBody)
        } else {
            lines.append("[Response]: None")
        }
        lines.append("[Network Duration]: \(metrics.duration / .seconds(1))s")
        return (lines + end).joined(separator: "\n")
    }

    static func body(_ bytes: [UInt8]?, of headers: HTTPHeaders) -> [String] {
        guard let bytes, !bytes.isEmpty else { return ["[Body]: None"] }
        let type = headers["Content-Type"]?.lowercased() ?? ""
        guard ["json", "xml", "text"].contains(where: { type.contains($0) }), bytes.count <= longestBody else {
            return ["[Body]: \(bytes.count) bytes"]
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return ["[Body]:"] + indented(lines.map { String(decoding: $0, as: UTF8.self).printable })
    }

    private static func body(of request: OutgoingRequest) -> [String] {
        switch request.body {
        case nil: ["[Body]: None"]
        case .bytes(let bytes): body(bytes, of: request.headers)
        case .file(let path): ["[Body]: the file \(path.printable)"]
        case .multipart(let form): ["[Body]: a form of \(form.contentLength) bytes"]
        }
    }

    private static func headers(_ headers: HTTPHeaders) -> [String] {
        guard !headers.isEmpty else { return ["[Headers]: None"] }
        let fields = headers.sorted().map { header in
            let value = OutgoingRequest.isSecret(header.name) ? "***" : header.value.printable
            return "\(header.name.printable): \(value)"
        }
        return ["[Headers]:"] + indented(fields)
    }

    private static func indented(_ lines: [String]) -> [String] { lines.map { "    \($0)" } }
}

extension OutgoingRequest {
    /// The request as a command line of curl(1), for a POSIX shell.
    ///
    /// Every word that needs it stands in single quotes, so that the shell takes nothing of it for its own. Fields that hold secrets,
    /// Authorization, Proxy-Authorization, Cookie and those whose name has `token`, `secret`, `api-key` or `password` in it, and the
    /// password in a URL are `***` unless they are asked for. A body in memory is written out where it is text of 4096 bytes at most.
    ///
    /// - Parameter showingSecrets: Whether secrets are written as they are.
    public func cURLDescription(showingSecrets: Bool = false) -> String {
        var words = ["curl"]
        // With a body curl would send POST.
        if method == .head, body == nil {
            words.append("-I")
        } else if method != .get || body != nil {
            words += ["-X", method.rawValue]
        }
        for header in headers {
            let value = showingSecrets || !Self.isSecret(header.name) ? header.value : "***"
            // Without a value curl would take the field away, with a semicolon it is sent empty.
            words += ["-H", value.isEmpty ? "\(header.name);" : "\(header.name): \(value)"]
        }
        // Else curl would name a type of its own.
        if body != nil, headers["Content-Type"] == nil { words += ["-H", "Content-Type:"] }
        switch body {
        case nil: break
        case .bytes(let bytes):
            if bytes.count <= 4096, let text = String(validating: bytes, as: UTF8.self), !text.contains("\0") {
                words += ["--data-raw", text]
            } else {
                words += ["--data-binary", "@body-of-\(bytes.count)-bytes"]
            }
        case .file(let path): words += ["--data-binary", "@\(path)"]
        case .multipart(let form): words += ["--data-binary", "@form-of-\(form.contentLength)-bytes"]
        }
        // Braces and brackets would be patterns of curl's, and a hyphen an option.
        if url.contains(where: { "[]{}".contains($0) }) { words.append("-g") }
        words += (url.hasPrefix("-") ? ["--url"] : []) + [showingSecrets ? url : Self.masked(url)]
        return words.map(ShellWord.quote).joined(separator: " ")
    }

    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        if ["authorization", "proxy-authorization", "cookie", "set-cookie"].contains(name) { return true }
        return ["token", "secret", "api-key", "apikey", "password"].contains { name.contains($0) }
    }

    /// Without the password of `https://name:password@host/`.
    static func masked(_ url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        let end = url[start...].unicodeScalars.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? url.endIndex
        guard let at = url[start..<end].unicodeScalars.lastIndex(of: "@"),
            let colon = url[start..<at].unicodeScalars.firstIndex(of: ":")
        else { return url }
        return url[..<colon] + ":***" + url[at...]
    }
}

/// Words of a POSIX shell.
enum ShellWord {
    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:=@%+,".utf8)

    static func quote(_ word: String) -> String {
        if !word.isEmpty, word.utf8.allSatisfy({ plain.contains($0) }) { return word }
        return "'" + word.split(at: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
