package import ArgumentParser
import Glibc
import LinuxPrimitives

/// Where the socket of the service lies if nothing else is said: the service listens there, and its clients look there.
package enum ServiceSocket {
    /// In `/run/reachability` for root, otherwise in `reachability` of `$XDG_RUNTIME_DIR`; nil where there is none.
    package static var directory: String? {
        if geteuid() == 0 { return "/run/reachability" }
        guard let base = EnvironmentVariable.value(of: "XDG_RUNTIME_DIR"), base.hasPrefix("/") else { return nil }
        return base + "/reachability"
    }

    package static func path(in directory: String) -> String { directory + "/reachability.sock" }

    /// Where a client looks to whom no socket is named: root's service is for everybody, but one's own comes first.
    package static var usual: String {
        let own = directory.map { path(in: $0) }
        let common = path(in: "/run/reachability")
        let places = [own, common].compactMap(\.self)
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

    @Flag(help: "Print one JSON object per line (schema 1).")
    package var json = false

    package init() {}
}
