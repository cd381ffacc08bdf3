import CommandLineSupport
import NetworkReachability

/// A subcommand that connects to a server.
protocol ServerQuery {
    var options: ServerOptions { get }
}

extension ServerOptions {
    /// Moves the program into the namespace that is named, with the name servers and hosts that `/etc/netns/NAME` has for it. Called on the
    /// first thread while it is the only one: all others inherit it.
    ///
    /// - Throws: ``ExitMessage`` when there is no such namespace, or it may not be entered.
    func enterNamespace() throws(ExitMessage) {
        let namespace = try namespaceOptions.namespace
        do {
            try namespace.enter()
        } catch {
            throw ExitMessage(error)
        }
    }

    /// Where the connection goes.
    func destination(_ server: ServerAddress) throws(ExitMessage) -> ServerAddress {
        guard let connectTo else { return server }
        return try ServerAddress(connectTo, defaultPort: server.port)
    }
}
