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

    /// Returns the command line of curl(1) that sends the same request, for a POSIX shell, see
    /// ``URLRequest/cURLDescription(showingSecrets:)``.
    public func cURLDescription(showingSecrets: Bool = false) -> String {
        guard var request = request?.adding(session.headers) else { return "$ curl command could not be created" }
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
    /// The result as text.
    public var description: String { "\(result)" }

    /// A text with the request, the answer, their durations, and the result.
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
    /// Returns the command line of curl(1) that sends the same request, for a POSIX shell, after a prompt: `$ curl -v`, then a line for
    /// each part.
    ///
    /// Secrets are replaced by `***`: passwords in URLs, cookies, and fields such as Authorization. A body that is not text, or longer than
    /// 4096 bytes, is replaced by the name of a file.
    ///
    /// - Parameter showingSecrets: True if secrets are included.
    public func cURLDescription(showingSecrets: Bool = false) -> String {
        let hasBody = httpBody != nil || httpBodyStream != nil
        var lines = ["$ curl -v"]
        // For HEAD without -I, curl waits for a body.
        lines.append(sentMethod == .head && !hasBody ? "-I" : "-X \(ShellWord.option(sentMethod.rawValue))")
        for header in headers {
            let isShown = showingSecrets || !Self.isSecret(header.name)
            if header.name.isSameName(as: "Cookie"), header.value.contains("=") {
                let pairs = header.value.split(at: ";").map { isShown ? $0 : $0.prefix { $0 != "=" } + "=***" }
                lines.insert("-b \(ShellWord.quote(pairs.joined(separator: ";")))", at: 2)
                continue
            }
            let value = isShown ? header.value : "***"
            // Without a value curl removes the field. With a semicolon the field is sent empty.
            lines.append("-H \(ShellWord.quote(value.isEmpty ? "\(header.name);" : "\(header.name): \(value)"))")
        }
        // Otherwise curl would send a type of its own.
        if hasBody, headers["Content-Type"] == nil { lines.append("-H \"Content-Type:\"") }
        if let stream = httpBodyStream {
            if stream.pieces.count == 1, case .file(let path, _) = stream.pieces[0] {
                lines.append("--data-binary \(ShellWord.quote("@\(path)"))")
            } else {
                lines.append("--data-binary \"@form-of-\(stream.length)-bytes\"")
            }
        } else if let httpBody {
            if httpBody.count <= 4096, let text = String(validating: httpBody, as: UTF8.self), !text.hasControl {
                // After -d, curl takes a text that begins with @ for the name of a file.
                lines.append("\(text.hasPrefix("@") ? "--data-raw" : "-d") \(ShellWord.quote(text))")
            } else {
                lines.append("--data-binary \"@body-of-\(httpBody.count)-bytes\"")
            }
        }
        // curl takes braces and brackets for patterns, and a hyphen for an option.
        if text.contains(where: { "[]{}".contains($0) }) { lines.append("-g") }
        if text.hasPrefix("-") { lines.append("--url") }
        lines.append(ShellWord.quote(showingSecrets ? text : Self.masked(text)))
        return lines.joined(separator: " \\\n\t")
    }

    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        if ["authorization", "proxy-authorization", "cookie", "set-cookie"].contains(name) { return true }
        return ["token", "secret", "api-key", "apikey", "password"].contains { name.contains($0) }
    }

    /// Returns the URL without the password of `https://name:password@host/`.
    static func masked(_ url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        let end = url[start...].unicodeScalars.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? url.endIndex
        guard let at = url[start..<end].unicodeScalars.lastIndex(of: "@"),
            let colon = url[start..<at].unicodeScalars.firstIndex(of: ":")
        else { return url }
        return url[..<colon] + ":***" + url[at...]
    }
}

extension String {
    /// A Boolean value that indicates whether it has control characters other than tabs and line breaks.
    fileprivate var hasControl: Bool {
        unicodeScalars.contains { $0.properties.generalCategory == .control && !["\t", "\n", "\r"].contains($0) }
    }
}

/// Words of a POSIX shell.
enum ShellWord {
    /// Returns the word in double quotes. An interactive shell expands `!` there, so a word with it is in single quotes.
    static func quote(_ word: String) -> String {
        // Scalars, because a quotation mark and a combining character are one `Character`.
        let scalars = word.unicodeScalars
        if scalars.contains("!") || word.hasControl {
            return "'" + scalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
        }
        return "\"" + scalars.map { "\\\"$`".unicodeScalars.contains($0) ? "\\\($0)" : String($0) }.joined() + "\""
    }

    /// Returns the word unchanged if a shell does not change it, otherwise in quotes.
    static func option(_ word: String) -> String {
        word.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5a).contains($0 & 0xdf) } && !word.isEmpty
            ? word : quote(word)
    }
}
