package import ArgumentParser
import Glibc
import LinuxSupport

/// The place of the Unix socket of a service.
package struct ServiceSocket: Sendable {
    /// The command that starts such a service.
    package let command: String
    /// The directory of root's service, which answers every user.
    private let common: String
    private let file: String

    /// `reachability serve`.
    package static let service = ServiceSocket(
        command: "reachability serve",
        common: "/run/reachability",
        file: "reachability.sock"
    )

    /// `reachability fleet hub`.
    package static let hub = ServiceSocket(
        command: "reachability fleet hub",
        common: "/run/reachability-fleet",
        file: "hub.sock"
    )

    /// In `/run` for root, otherwise `reachability` in `$XDG_RUNTIME_DIR`; nil if that is not set.
    package var directory: String? {
        if geteuid() == 0 { return common }
        guard let base = EnvironmentVariable.value(of: "XDG_RUNTIME_DIR"), base.hasPrefix("/") else { return nil }
        return base + "/reachability"
    }

    /// The reason why there is no default Unix socket; nil if there is one.
    package var absence: String? {
        guard directory == nil else { return nil }
        let hint = "name a path with --socket, or none"
        return "there is no Unix socket: XDG_RUNTIME_DIR is not the path of a directory; \(hint)"
    }

    package func path(in directory: String) -> String { "\(directory)/\(file)" }

    /// The default socket of a client: that of the user's own service if it is served, then that of root's service.
    package var usual: String {
        let own = directory.map { path(in: $0) }
        let places = [own, path(in: common)].compactMap(\.self)
        return places.first { (try? LocalSocket.occupant(of: $0)) == .served } ?? places[0]
    }
}

/// The options that select the service to which a command sends requests.
package struct ServicePlace: ParsableArguments {
    @Option(
        help: ArgumentHelp("The service's Unix socket, if not the usual one.", valueName: "path"),
        completion: .file()
    )
    package var socket: String?

    @Option(help: ArgumentHelp("Ask over HTTP: http://127.0.0.1:9672, for example.", valueName: "url"))
    package var url: String?

    @Option(
        help: ArgumentHelp("A file with the token for --url.", valueName: "file"),
        completion: .file()
    )
    package var tokenFile: String?

    package init() {}

    package func validate() throws { try Self.check(socket: socket, url: url, tokenFile: tokenFile) }

    /// - Throws: `ValidationError` for options that do not belong together.
    static func check(socket: String?, url: String?, tokenFile: String?) throws {
        if socket != nil, url != nil { throw ValidationError("Give --socket or --url, not both.") }
        if tokenFile != nil, url == nil { throw ValidationError("--token-file needs --url.") }
    }
}

/// The options that select a service and the format of its answers.
package struct ServiceOptions: ParsableArguments {
    @OptionGroup package var place: ServicePlace

    @Flag(help: "Print times in UTC, not in local time.")
    package var utc = false

    @Flag(help: "Print one JSON object per line (schema 1).")
    package var json = false

    package init() {}
}

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

/// The directory for state that outlives a program.
package enum StateDirectory {
    /// The directory that systemd made for the service (`STATE_DIRECTORY` of `systemd.exec(5)`), else ``ofUser``, which is made with mode
    /// 0700. A failure to make it shows when a file in it is written. Nil without a home.
    package static func make() -> String? {
        if let made = EnvironmentVariable.value(of: "STATE_DIRECTORY")?.split(at: ":").first, made.hasPrefix("/") {
            return String(made)
        }
        guard let directory = ofUser else { return nil }
        try? OwnDirectory.make(directory, mode: 0o700)
        return directory
    }

    /// `/var/lib/reachability` for root, and `$XDG_STATE_HOME/reachability` for others, which is in `~/.local/state` unless the
    /// variable is set (XDG Base Directory Specification). Nil without a home.
    package static var ofUser: String? {
        if geteuid() == 0 { return "/var/lib/reachability" }
        let variables = [("XDG_STATE_HOME", ""), ("HOME", "/.local/state")]
        for (name, folder) in variables {
            guard let base = EnvironmentVariable.value(of: name), base.hasPrefix("/") else { continue }
            return base + folder + "/reachability"
        }
        return nil
    }
}
