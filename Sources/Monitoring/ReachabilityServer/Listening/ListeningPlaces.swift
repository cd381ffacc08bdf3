import LinuxSupport

/// Where a server listens: at addresses, and at one Unix socket.
package struct ListeningPlaces: Sendable {
    /// A Unix socket.
    package struct Socket: Sendable {
        let path: String
        /// Where it is, if that directory is the server's own, to be made.
        let directory: String?
        /// Whether everybody on this machine may ask; otherwise only this user.
        let isCommon: Bool

        package init(_ path: String, directory: String? = nil, isCommon: Bool) {
            (self.path, self.directory, self.isCommon) = (path, directory, isCommon)
        }
    }

    /// What turns one off, in place of an address or a path.
    package static let none = "none"

    package var addresses: [ListenAddress]
    package let socket: Socket?

    /// - Parameters:
    ///   - http: Addresses without TLS, as people write them, and
    ///   - https: with it.
    /// - Throws: ``ListenError`` for what is no address to listen at.
    package init(http: [String], https: [String], socket: Socket?) throws(ListenError) {
        addresses =
            try http.filter { $0 != Self.none }.map { text throws(ListenError) in try ListenAddress(text) }
            + https.map { text throws(ListenError) in try ListenAddress(text, isSecured: true) }
        self.socket = socket
    }

    package var isEmpty: Bool { addresses.isEmpty && socket == nil }

    /// Listens everywhere, and returns where, as people write it.
    package func listen(with server: WebServer) async throws(ListenError) -> [String] {
        var places: [String] = []
        for address in addresses {
            places.append("\(address.scheme)://\(try await server.listen(at: address))/")
        }
        guard let socket else { return places }
        if let directory = socket.directory {
            do { try OwnDirectory.make(directory, mode: socket.isCommon ? 0o755 : 0o700) } catch {
                throw ListenError("cannot make the directory \(directory.printable)", error)
            }
        }
        try await server.listen(at: socket.path, mode: socket.isCommon ? 0o666 : 0o600)
        return places + [socket.path]
    }
}
