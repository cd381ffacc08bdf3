import FoundationEssentials
import LinuxSupport
import ReachabilityRetry

// The texts of `print` and `debugPrint`. Secrets are masked as in `cURLDescription()`, and text of servers is escaped.

extension URLRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method and the URL.
    public var description: String { "\(sentMethod.rawValue.printable) \(Self.masked(text).printable)" }

    /// The command line of curl(1).
    public var debugDescription: String { cURLDescription() }
}

extension Request: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method and the URL, then the status if there is an answer: `GET https://example.org/ (200)`.
    public var description: String {
        guard let request else { return "No request created yet." }
        return response.map { "\(request) (\($0.statusCode))" } ?? "\(request)"
    }

    /// The command line of curl(1).
    public var debugDescription: String { cURLDescription() }

    /// The command line of curl(1) that sends the same request, for a POSIX shell, see ``URLRequest/cURLDescription(showingSecrets:)``.
    public func cURLDescription(showingSecrets: Bool = false) -> String {
        guard var request else { return "$ curl command could not be created" }
        if request.httpShouldHandleCookies, let cookies = session.cookieStorage?.field(for: request.text) {
            request = request.adding([HTTPHeader(name: "Cookie", value: cookies)])
        }
        switch (self as? UploadRequest)?.uploadable {
        case nil: break
        case .data(let data)?: request.httpBody = data
        case .file(let url, _)?: request.httpBodyStream = InputStream(pieces: [.file(url.path, length: 0)])
        case .stream(let stream)?: request.httpBodyStream = stream
        }
        return request.cURLDescription(showingSecrets: showingSecrets)
    }
}

extension DataResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// The result.
    public var description: String { "\(result)" }

    /// The request, the answer, their durations, and the result.
    public var debugDescription: String {
        var body = response.map { DebugText.body(data.map { [UInt8]($0) }, of: $0.headers) } ?? []
        if let fileURL { body = ["[File]: \(fileURL.path.printable)"] }
        return DebugText.lines(of: request, response, body, metrics, serializationDuration, "\(result)")
    }
}

private enum DebugText {
    /// The maximum length of a body that is shown. A longer one is shown by its length.
    private static let longestBody = 100_000

    static func lines(
        of request: URLRequest?,
        _ response: HTTPURLResponse?,
        _ responseBody: [String],
        _ metrics: RequestMetrics?,
        _ serialization: Double,
        _ result: String
    ) -> String {
        var lines = ["[Request]: None"]
        if let request {
            lines = ["[Request]: \(request)"] + indented(headers(request.headers) + body(of: request))
        }
        if let response {
            let head = ["[Status Code]: \(response.statusCode)"] + headers(response.headers)
            lines += ["[Response]:"] + indented(head + responseBody)
        } else {
            lines.append("[Response]: None")
        }
        lines.append("[Network Duration]: \(metrics.map { "\($0.duration / .seconds(1))s" } ?? "None")")
        lines.append("[Serialization Duration]: \(serialization)s")
        return (lines + ["[Result]: \(result)"]).joined(separator: "\n")
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

    private static func body(of request: URLRequest) -> [String] {
        guard let stream = request.httpBodyStream else {
            return body(request.httpBody.map { [UInt8]($0) }, of: request.headers)
        }
        return ["[Body]: a stream of \(stream.length) bytes"]
    }

    private static func headers(_ headers: HTTPHeaders) -> [String] {
        guard !headers.isEmpty else { return ["[Headers]: None"] }
        let fields = headers.sorted().map { header in
            let value = URLRequest.isSecret(header.name) ? "***" : header.value.printable
            return "\(header.name.printable): \(value)"
        }
        return ["[Headers]:"] + indented(fields)
    }

    private static func indented(_ lines: [String]) -> [String] { lines.map { "    \($0)" } }
}

extension URLRequest {
    /// The command line of curl(1) that sends the same request, for a POSIX shell.
    ///
    /// Words are quoted, so that the shell does not interpret them. `***` replaces the values of Authorization, Proxy-Authorization, Cookie and
    /// of fields with `token`, `secret`, `api-key` or `password` in their names, and the password in a URL. A body in memory is included if
    /// it is text of at most 4096 bytes.
    ///
    /// - Parameter showingSecrets: True if secrets are included.
    public func cURLDescription(showingSecrets: Bool = false) -> String {
        var words = ["curl"]
        let hasBody = httpBody != nil || httpBodyStream != nil
        // With a body curl would send POST.
        if sentMethod == .head, !hasBody {
            words.append("-I")
        } else if sentMethod != .get || hasBody {
            words += ["-X", sentMethod.rawValue]
        }
        for header in headers {
            let value = showingSecrets || !Self.isSecret(header.name) ? header.value : "***"
            // Without a value curl would take the field away, with a semicolon it is sent empty.
            words += ["-H", value.isEmpty ? "\(header.name);" : "\(header.name): \(value)"]
        }
        // Else curl would name a type of its own.
        if hasBody, headers["Content-Type"] == nil { words += ["-H", "Content-Type:"] }
        if let stream = httpBodyStream {
            if stream.pieces.count == 1, case .file(let path, _) = stream.pieces[0] {
                words += ["--data-binary", "@\(path)"]
            } else {
                words += ["--data-binary", "@form-of-\(stream.length)-bytes"]
            }
        } else if let httpBody {
            if httpBody.count <= 4096, let text = String(validating: httpBody, as: UTF8.self), !text.contains("\0") {
                words += ["--data-raw", text]
            } else {
                words += ["--data-binary", "@body-of-\(httpBody.count)-bytes"]
            }
        }
        // Braces and brackets would be patterns of curl's, and a hyphen an option.
        if text.contains(where: { "[]{}".contains($0) }) { words.append("-g") }
        words += (text.hasPrefix("-") ? ["--url"] : []) + [showingSecrets ? text : Self.masked(text)]
        return words.map(ShellWord.quote).joined(separator: " ")
    }

    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        if ["authorization", "proxy-authorization", "cookie", "set-cookie"].contains(name) { return true }
        return ["token", "secret", "api-key", "apikey", "password"].contains { name.contains($0) }
    }

    /// The URL without the password of `https://name:password@host/`.
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
