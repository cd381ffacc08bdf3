package import ArgumentParser
import Glibc
import LinuxSupport

/// Where the Unix socket of a service lies.
package struct ServiceSocket: Sendable {
    /// What starts such a service.
    package let command: String
    /// The directory of root's, which everybody may ask.
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

    /// In `/run` for root, otherwise `reachability` in `$XDG_RUNTIME_DIR`; nil where there is none.
    package var directory: String? {
        if geteuid() == 0 { return common }
        guard let base = EnvironmentVariable.value(of: "XDG_RUNTIME_DIR"), base.hasPrefix("/") else { return nil }
        return base + "/reachability"
    }

    /// Why there is no Unix socket where none is named; nil where there is one.
    package var absence: String? {
        guard directory == nil else { return nil }
        let hint = "name a path with --socket, or none"
        return "there is no Unix socket: XDG_RUNTIME_DIR is not the path of a directory; \(hint)"
    }

    package func path(in directory: String) -> String { "\(directory)/\(file)" }

    /// Where a client looks to whom no socket is named: root's service is for everybody, but one's own comes first.
    package var usual: String {
        let own = directory.map { path(in: $0) }
        let places = [own, path(in: common)].compactMap(\.self)
        return places.first { (try? LocalSocket.occupant(of: $0)) == .served } ?? places[0]
    }
}

/// Which service is asked.
package struct ServiceOptions: ParsableArguments {
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

    @Flag(help: "Print times in UTC, not in local time.")
    package var utc = false

    @Flag(help: "Print one JSON object per line (schema 1).")
    package var json = false

    package init() {}

    package func validate() throws {
        if socket != nil, url != nil { throw ValidationError("Give --socket or --url, not both.") }
        if tokenFile != nil, url == nil { throw ValidationError("--token-file needs --url.") }
    }
}
