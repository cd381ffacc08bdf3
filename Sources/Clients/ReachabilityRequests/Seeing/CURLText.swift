import LinuxSupport
import ReachabilityRetry

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
