import CommandLineSupport
import Netlink

/// A subcommand that connects to a server.
protocol ServerAsking {
    var options: ServerOptions { get }
}

extension ServerOptions {
    /// Moves the program into the namespace that is named, with the name servers and hosts that `/etc/netns/NAME` has for it. Called on the first thread while it is the only one: all others inherit it.
    ///
    /// - Throws: ``ExitMessage`` when there is no such namespace, or it may not be entered.
    func enterNamespace() throws(ExitMessage) {
        guard let netns else { return }
        guard !netns.isEmpty, !netns.contains("/"), netns != ".", netns != ".." else {
            throw ExitMessage("\"\(netns.printable)\" is no name of a network namespace", .usage)
        }
        let namespace = NamespaceReference(path: "/run/netns/\(netns)")
        do {
            try NamespaceEntry.enter(namespace)
        } catch {
            throw ExitMessage("\(error)", .unavailable)
        }
        do {
            try NamespaceFiles(of: namespace)?.show()
        } catch {
            throw ExitMessage("cannot use the files in /etc/netns/\(netns.printable): \(error)", .unavailable)
        }
    }

    /// Where the connection goes.
    func destination(_ server: ServerAddress) throws(ExitMessage) -> ServerAddress {
        guard let connectTo else { return server }
        return try ServerAddress(connectTo, defaultPort: server.port)
    }
}
