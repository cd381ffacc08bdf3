package import LinuxSupport
package import NetworkReachability
package import ReachabilityService

/// An address and a port to listen at. Without TLS it is a loopback address, which only this machine can reach.
package struct ListenAddress: Hashable, Sendable {
    package let address: IPAddress
    package let port: UInt16
    /// Whether it uses TLS.
    package let isSecured: Bool

    /// The default address of the service.
    package static let standard = "127.0.0.1:9672"

    /// Reads `127.0.0.1:9672`, `[::1]:9672` or `localhost:9672`.
    ///
    /// - Throws: ``ListenError`` for another text, and without TLS for an address that other machines can reach.
    package init(_ text: String, isSecured: Bool = false) throws(ListenError) {
        guard let (address, port) = Self.parse(text) else {
            throw ListenError(.usage, "\"\(text.printable)\" is not an address to listen at, such as \(Self.standard)")
        }
        try self.init(address, port: port, isSecured: isSecured)
    }

    private static func parse(_ text: String) -> (IPAddress, UInt16)? {
        guard let colon = text.unicodeScalars.lastIndex(of: ":"),
            let port = UInt16(text[text.unicodeScalars.index(after: colon)...])
        else { return nil }
        var host = String(text[..<colon])
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = String(host.dropFirst().dropLast()) }
        if host == "localhost" { host = "127.0.0.1" }
        guard let address = IPAddress(host), address.isIPv6 == isBracketed else { return nil }
        return (address, port)
    }

    /// - Throws: ``ListenError`` without TLS for an address that other machines can reach.
    package init(_ address: IPAddress, port: UInt16, isSecured: Bool = false) throws(ListenError) {
        (self.address, self.port, self.isSecured) = (address, port, isSecured)
        let what = "cannot listen at \(text(port: Int(port)).printable)"
        guard address.zone == nil else {
            throw ListenError(.usage, "\(what): use an address without an interface, or [::] for all")
        }
        guard isSecured || address.isLoopback else {
            let why = "others could ask without saying who they are"
            throw ListenError(
                .usage,
                "\(what): \(why): name an address of the loopback, or say listen.https in the configuration"
            )
        }
    }

    package func text(port: Int) -> String {
        address.isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
    }

    package var scheme: String { isSecured ? "https" : "http" }
}

extension ListenAddress {
    /// Checks the addresses of a configuration.
    package static func check(_ listen: ServiceConfiguration.Listen) throws(ConfigurationProblems) {
        var problems: [ConfigurationProblem] = []
        for (key, texts, isSecured) in [("http", listen.http, false), ("https", listen.https, true)] {
            for (index, text) in (texts ?? []).enumerated() {
                do throws(ListenError) { _ = try ListenAddress(text, isSecured: isSecured) } catch {
                    problems.append(ConfigurationProblem(path: "listen.\(key)[\(index + 1)]", text: error.text))
                }
            }
        }
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
    }
}

/// The reason why a server cannot listen, in one sentence.
package struct ListenError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The address or path is invalid.
        case usage
        /// Another process listens there.
        case taken
        /// The user has no permission.
        case denied
        case failed
    }

    package let kind: Kind
    package let text: String

    package init(_ kind: Kind, _ text: String) {
        (self.kind, self.text) = (kind, text)
    }

    init(_ what: String, _ error: SystemError) {
        let kind: Kind = [.accessDenied, .notPermitted].contains(error) ? .denied : .failed
        self.init(kind, "\(what): \(error)")
    }
}

/// The address of an inherited socket. It obeys the same rules as ``ListenAddress``.
package struct InheritedPlace: Hashable, Sendable {
    package let transport: Transport
    package let text: String

    /// - Parameter isSecured: Whether it uses TLS.
    /// - Throws: ``ListenError`` without TLS for an address that other machines can reach.
    package init(_ socket: ListeningSocket, isSecured: Bool = false) throws(ListenError) {
        switch socket.place {
        case .local(let path):
            (transport, text) = (.local, path.isEmpty ? "a socket without a name" : path.printable)
        case .internet(let address, let port):
            let address = try ListenAddress(IPAddress(address), port: port, isSecured: isSecured)
            (transport, text) = (
                isSecured ? .secured : .loopback, "\(address.scheme)://\(address.text(port: Int(port)))/"
            )
        }
    }
}

/// The kind of a connection.
package enum Transport: Hashable, Sendable {
    /// A Unix socket, whose client the kernel identifies.
    case local
    /// TCP over the loopback.
    case loopback
    /// TLS.
    case secured
}

/// The addresses and the Unix socket of a server.
package struct ListeningPlaces: Sendable {
    package struct Socket: Sendable {
        let path: String
        /// The directory to create, if it belongs to the server.
        let directory: String?
        /// Whether every user of this machine may connect; otherwise only this user.
        let isCommon: Bool

        package init(_ path: String, directory: String? = nil, isCommon: Bool) {
            (self.path, self.directory, self.isCommon) = (path, directory, isCommon)
        }
    }

    /// The text that disables an address or a path.
    package static let none = "none"

    package var addresses: [ListenAddress]
    package let socket: Socket?

    /// - Throws: ``ListenError`` for an invalid address.
    package init(http: [String], https: [String], socket: Socket?) throws(ListenError) {
        addresses =
            try http.filter { $0 != Self.none }.map { text throws(ListenError) in try ListenAddress(text) }
            + https.map { text throws(ListenError) in try ListenAddress(text, isSecured: true) }
        self.socket = socket
    }

    package var isEmpty: Bool { addresses.isEmpty && socket == nil }

    /// Listens at all addresses and returns them as text.
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

/// The file of a listening Unix socket. A lock file beside it prevents that two services use it.
final class SocketPlace: Sendable {
    private let path: String
    private let lock: LockFile

    /// Removes the socket of a process that has ended.
    ///
    /// - Throws: ``ListenError`` if another process listens there.
    init(_ path: String) throws(ListenError) {
        guard path.utf8.count <= LocalSocket.longestPath else {
            throw ListenError(
                .usage,
                "the path of a socket has at most \(LocalSocket.longestPath) bytes, \(path.printable) has \(path.utf8.count)"
            )
        }
        let what = "cannot listen at \(path.printable)"
        do {
            lock = try LockFile(path + ".lock")
        } catch {
            if error == .tryAgain { throw ListenError(.taken, "\(what): another service listens there") }
            throw ListenError(what, error)
        }
        self.path = path
        let occupant: LocalSocket.Occupant
        do { occupant = try LocalSocket.occupant(of: path) } catch { throw ListenError(what, error) }
        switch occupant {
        case .nothing: break
        case .stale: OwnFile.remove(path)
        case .served: throw ListenError(.taken, "\(what): another program listens there")
        case .foreign: throw ListenError(.taken, "\(what): the file is not a socket")
        }
    }

    /// Removes the socket. The lock file stays, because another process may wait for it.
    func leave() {
        OwnFile.remove(path)
    }
}
