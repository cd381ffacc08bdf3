package import ArgumentParser
import Glibc
import LinuxSupport

/// The Unix socket of a service.
package struct ServiceSocket: Sendable {
    /// The command that starts the service, for hints in messages.
    package let command: String
    /// The directory of the socket if root runs the service. Every user can connect to a socket there.
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

    /// The directory of the socket: the one in `/run` for root, otherwise `reachability` in `$XDG_RUNTIME_DIR`. Nil if that variable is not
    /// an absolute path.
    package var directory: String? {
        if geteuid() == 0 { return common }
        guard let base = EnvironmentVariable.value(of: "XDG_RUNTIME_DIR"), base.hasPrefix("/") else { return nil }
        return base + "/reachability"
    }

    /// The reason why there is no default Unix socket; nil if there is one.
    package var absence: String? {
        guard directory == nil else { return nil }
        let hint = "set XDG_RUNTIME_DIR, pass a path with --socket, or pass --socket none"
        return "cannot create a Unix socket: XDG_RUNTIME_DIR is not the path of a directory; \(hint)"
    }

    package func path(in directory: String) -> String { "\(directory)/\(file)" }

    /// The default socket of a client: the socket of the user's own service if that service is running, otherwise that of root's service.
    package var usual: String {
        let own = directory.map { path(in: $0) }
        let places = [own, path(in: common)].compactMap(\.self)
        return places.first { (try? LocalSocket.state(of: $0)) == .served } ?? places[0]
    }
}

/// The options that select the service for a request.
package struct ServicePlace: ParsableArguments {
    @Option(
        help: ArgumentHelp("The path of the service's Unix socket.", valueName: "path"),
        completion: .file()
    )
    package var socket: String?

    @Option(help: ArgumentHelp("Query over HTTP, for example http://127.0.0.1:9672.", valueName: "url"))
    package var url: String?

    @Option(file: "A file that contains the token for --url.")
    package var tokenFile: String?

    package init() {}

    package func validate() throws { try Self.check(socket: socket, url: url, tokenFile: tokenFile) }

    /// Checks the combination of the options.
    ///
    /// - Throws: `ValidationError` if the options exclude or require each other.
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

/// The URL of a service: `http://127.0.0.1:9672`.
package struct ServiceURL: Hashable, Sendable {
    /// The host, without the brackets of an IPv6 address.
    let host: String
    let port: UInt16
    /// Host and port as given, for the `Host` field.
    let authority: String
    /// The path that precedes the path of each request, without a trailing slash.
    let path: String

    /// - Throws: ``ExitMessage`` if the text is not such a URL.
    init(_ text: String) throws(ExitMessage) {
        let shown = text.secretsMasked.printable
        func refusal(_ reason: String) -> ExitMessage {
            ExitMessage("cannot use \"\(shown)\": \(reason); write http://127.0.0.1:9672, for example", .usage)
        }
        let parts = text.split(at: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("//") else { throw refusal("it has no scheme") }
        switch parts[0].lowercased() {
        case "http": break
        case "https":
            let hint = "use an HTTPS client such as curl, or run the command on the service's machine"
            throw ExitMessage("cannot use \"\(shown)\": this command does not support TLS; \(hint)", .usage)
        case let scheme: throw refusal("the scheme is \(scheme.printable), not http")
        }
        let rest = parts[1].dropFirst(2)
        let authority = rest.prefix { $0 != "/" }
        var path = String(rest[authority.endIndex...])
        while path.hasSuffix("/") { path.removeLast() }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), !text.contains(where: { "?#@\"".contains($0) }) else {
            throw refusal("a user name, a query, a space or a character outside ASCII is not allowed")
        }
        guard let server = HostAndPort(authority), server.isBracketed == server.host.contains(":"),
            (try? HostError.check(server.host)) != nil
        else { throw refusal("it has no valid host") }
        guard let port = server.port(orElse: 80) else { throw refusal("the port is not a number from 1 to 65535") }
        (host, self.port, self.authority, self.path) = (server.host, port, String(authority), path)
    }
}

/// The directory for state that persists between runs.
package enum StateDirectory {
    /// Returns the directory that systemd created for the service (`STATE_DIRECTORY` of `systemd.exec(5)`). Without it, creates ``ofUser``
    /// with mode 0700 and returns it. An error of the creation shows when a file in the directory is written. Nil without a home directory.
    package static func make() -> String? {
        if let made = EnvironmentVariable.value(of: "STATE_DIRECTORY")?.split(at: ":").first, made.hasPrefix("/") {
            return String(made)
        }
        guard let directory = ofUser else { return nil }
        try? OwnDirectory.make(directory, mode: 0o700)
        return directory
    }

    /// `/var/lib/reachability` for root, otherwise `$XDG_STATE_HOME/reachability`. The default of that variable is `~/.local/state` (XDG
    /// Base Directory Specification). Nil without a home directory.
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
