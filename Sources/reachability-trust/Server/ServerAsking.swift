import CommandLineSupport
import Netlink

/// A subcommand that connects to a server.
protocol ServerAsking {
    var options: ServerOptions { get }
}

extension ServerOptions {
    /// Moves the program into the namespace that is named. Called on the first thread while it is the only one: all others inherit it.
    ///
    /// - Throws: ``ExitMessage`` when there is no such namespace, or it may not be entered.
    func enterNamespace() throws(ExitMessage) {
        guard let netns else { return }
        guard !netns.isEmpty, !netns.contains("/"), netns != ".", netns != ".." else {
            throw ExitMessage("\"\(netns.printable)\" is no name of a network namespace", .usage)
        }
        do {
            try NamespaceEntry.enter(NamespaceReference(path: "/run/netns/\(netns)"))
        } catch {
            throw ExitMessage("\(error)", .unavailable)
        }
    }

    /// Where the connection goes.
    func destination(_ server: ServerAddress) throws(ExitMessage) -> ServerAddress {
        guard let connectTo else { return server }
        return try ServerAddress(connectTo, defaultPort: server.port)
    }
}
