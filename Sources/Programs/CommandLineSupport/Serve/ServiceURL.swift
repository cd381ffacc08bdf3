import LinuxSupport

/// The address of a service over HTTP: `http://127.0.0.1:9672`.
package struct ServiceURL: Hashable, Sendable {
    /// Without brackets.
    let host: String
    let port: UInt16
    /// Host and port as they were written.
    let authority: String
    /// The path before that of each request, without a slash at its end.
    let path: String

    /// - Throws: ``ExitMessage`` for another text.
    init(_ text: String) throws(ExitMessage) {
        func refusal(_ reason: String) -> ExitMessage {
            ExitMessage("cannot use \"\(text.printable)\": \(reason); write http://127.0.0.1:9672, for example", .usage)
        }
        let parts = text.split(at: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("//") else { throw refusal("it has no scheme") }
        switch parts[0].lowercased() {
        case "http": break
        case "https":
            let hint = "ask a program of HTTPS such as curl, or the service's machine over SSH"
            throw ExitMessage("cannot use \"\(text.printable)\": this command has no TLS; \(hint)", .usage)
        case let scheme: throw refusal("the scheme is \(scheme.printable), not http")
        }
        let rest = parts[1].dropFirst(2)
        let authority = rest.prefix { $0 != "/" }
        var path = String(rest[authority.endIndex...])
        while path.hasSuffix("/") { path.removeLast() }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), !text.contains(where: { "?#@\"".contains($0) }) else {
            throw refusal("a user, a query, a blank or a letter beyond ASCII has no place in it")
        }
        let (host, digits) = Self.parts(authority)
        guard let host, (try? HostError.check(host)) != nil else { throw refusal("it names no host") }
        guard let port = digits.map({ Int($0).flatMap { 1...65535 ~= $0 ? UInt16($0) : nil } }) ?? 80 else {
            throw refusal("a port is a number from 1 to 65535")
        }
        (self.host, self.port, self.authority, self.path) = (host, port, String(authority), path)
    }

    private static func parts(_ authority: Substring) -> (host: String?, port: Substring?) {
        if authority.hasPrefix("[") {
            let parts = authority.dropFirst().split(at: "]", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].contains(":") else { return (nil, nil) }
            guard !parts[1].isEmpty else { return (String(parts[0]), nil) }
            return parts[1].hasPrefix(":") ? (String(parts[0]), parts[1].dropFirst()) : (nil, nil)
        }
        let parts = authority.split(at: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts.first.map(String.init), parts.count == 2 ? parts[1] : nil)
    }
}
