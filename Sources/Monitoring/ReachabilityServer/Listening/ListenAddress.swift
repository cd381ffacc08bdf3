package import LinuxSupport
package import NetworkReachability
package import ReachabilityService

/// A TCP address and port to listen at. Without TLS it must be a loopback address, which only this machine can reach, unless it serves only
/// public content.
package struct ListenAddress: Hashable, Sendable {
    package let address: IPAddress
    package let port: UInt16
    /// A Boolean value that indicates whether TLS is used.
    package let isSecured: Bool
    /// A Boolean value that indicates whether only public content is served.
    package let isPublic: Bool

    /// The default address of the service.
    package static let standard = "127.0.0.1:9672"

    /// Parses a text such as `127.0.0.1:9672`, `[::1]:9672` or `localhost:9672`.
    ///
    /// - Throws: ``ListenError`` for an invalid text, and without TLS for an address that is not a loopback address.
    package init(_ text: String, isSecured: Bool = false, isPublic: Bool = false) throws(ListenError) {
        guard let (address, port) = Self.parse(text) else {
            throw ListenError(.usage, "\"\(text.printable)\" is not an address to listen at, such as \(Self.standard)")
        }
        try self.init(address, port: port, isSecured: isSecured, isPublic: isPublic)
    }

    private static func parse(_ text: String) -> (IPAddress, UInt16)? {
        guard let server = HostAndPort(text), let port = server.digits.flatMap({ UInt16($0) }),
            let address = IPAddress(server.host == "localhost" ? "127.0.0.1" : server.host),
            address.isIPv6 == server.isBracketed
        else { return nil }
        return (address, port)
    }

    /// Creates an address and checks it.
    ///
    /// - Throws: ``ListenError`` for an address with an interface, and without TLS for an address that is not a loopback address.
    package init(
        _ address: IPAddress,
        port: UInt16,
        isSecured: Bool = false,
        isPublic: Bool = false
    ) throws(ListenError) {
        (self.address, self.port, self.isSecured, self.isPublic) = (address, port, isSecured, isPublic)
        let what = "cannot listen at \(text(port: Int(port)).printable)"
        guard address.zone == nil else {
            throw ListenError(.usage, "\(what): interfaces are not supported; use an address without one, or [::]")
        }
        guard isSecured || isPublic || address.isLoopback else {
            let why = "without TLS, only loopback addresses are allowed"
            throw ListenError(
                .usage,
                "\(what): \(why); use listen.https in the configuration"
            )
        }
    }

    /// Returns the address with a port, in the form of a URL.
    package func text(port: Int) -> String {
        address.isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
    }

    /// The URL scheme: `http` or `https`.
    package var scheme: String { isSecured ? "https" : "http" }
}

extension ListenAddress {
    /// Checks the TCP addresses of a configuration.
    package static func check(_ listen: ServiceConfiguration.Listen) throws(ConfigurationProblems) {
        var problems: [ConfigurationProblem] = []
        func check(_ path: String, _ text: String, isSecured: Bool = false, isPublic: Bool = false) {
            do throws(ListenError) { _ = try ListenAddress(text, isSecured: isSecured, isPublic: isPublic) } catch {
                problems.append(ConfigurationProblem(path: path, text: error.text))
            }
        }
        for (key, texts) in [("http", listen.http), ("https", listen.https)] {
            for (index, text) in (texts ?? []).enumerated() {
                check("listen.\(key)[\(index + 1)]", text, isSecured: key == "https")
            }
        }
        if let text = listen.statusPage { check("status-page.listen", text, isPublic: true) }
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
    }
}

/// The error of a server that cannot listen.
package struct ListenError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The address or path is invalid.
        case usage
        /// Another process listens at the address or path.
        case taken
        /// The user of the process lacks the permission.
        case denied
        case failed
    }

    package let kind: Kind
    /// The error message.
    package let text: String

    package init(_ kind: Kind, _ text: String) {
        (self.kind, self.text) = (kind, text)
    }

    init(_ what: String, _ error: SystemError) {
        let kind: Kind = [.accessDenied, .notPermitted].contains(error) ? .denied : .failed
        self.init(kind, "\(what): \(error)")
    }
}

/// The address of an inherited socket. The same rules apply as for ``ListenAddress``.
package struct InheritedAddress: Hashable, Sendable {
    package let transport: Transport
    /// The URL or the path of the socket, for messages.
    package let text: String

    /// Determines the address of a socket and checks it.
    ///
    /// - Parameter isSecured: True if the socket uses TLS.
    /// - Throws: ``ListenError`` without TLS for an address that is not a loopback address.
    package init(_ socket: ListeningSocket, isSecured: Bool = false) throws(ListenError) {
        switch socket.place {
        case .local(let path):
            (transport, text) = (.local, path.isEmpty ? "an unnamed Unix socket" : path.printable)
        case .internet(let address, let port):
            let address = try ListenAddress(IPAddress(address), port: port, isSecured: isSecured)
            (transport, text) = (
                isSecured ? .secured : .loopback, "\(address.scheme)://\(address.text(port: Int(port)))/"
            )
        }
    }
}

/// The transport of a connection.
package enum Transport: Hashable, Sendable {
    /// A Unix socket. The kernel identifies the client.
    case local
    /// TCP over loopback, without TLS.
    case loopback
    /// TCP without TLS, for public content.
    case open
    /// TLS.
    case secured
}

/// The addresses and the Unix socket of a server.
package struct ListenAddresses: Sendable {
    /// The Unix socket.
    package struct Socket: Sendable {
        let path: String
        /// The directory that the server creates; nil if the directory must exist.
        let directory: String?
        /// A Boolean value that indicates whether every user of this machine may connect. Otherwise only the user of the service may.
        let isCommon: Bool

        package init(_ path: String, directory: String? = nil, isCommon: Bool) {
            (self.path, self.directory, self.isCommon) = (path, directory, isCommon)
        }
    }

    /// The option value that disables an address or a path.
    package static let none = "none"

    package var addresses: [ListenAddress]
    /// The Unix socket; nil without one.
    package let socket: Socket?

    /// Parses the addresses. The text `none` is ignored.
    ///
    /// - Parameter statusPage: The address of the public status page; nil for none.
    /// - Throws: ``ListenError`` for an invalid address.
    package init(
        http: [String],
        https: [String],
        statusPage: String? = nil,
        socket: Socket?
    ) throws(ListenError) {
        addresses =
            try http.filter { $0 != Self.none }.map { text throws(ListenError) in try ListenAddress(text) }
            + https.map { text throws(ListenError) in try ListenAddress(text, isSecured: true) }
        if let statusPage { addresses.append(try ListenAddress(statusPage, isPublic: true)) }
        self.socket = socket
    }

    package var isEmpty: Bool { addresses.isEmpty && socket == nil }

    /// Listens at all addresses and at the socket, and returns their URLs and the path.
    package func listen(with server: WebServer) async throws(ListenError) -> [String] {
        var places: [String] = []
        for address in addresses {
            places.append("\(address.scheme)://\(try await server.listen(at: address))/")
        }
        guard let socket else { return places }
        if let directory = socket.directory {
            do { try OwnDirectory.make(directory, mode: socket.isCommon ? 0o755 : 0o700) } catch {
                throw ListenError("cannot create the directory \(directory.printable)", error)
            }
        }
        try await server.listen(at: socket.path, mode: socket.isCommon ? 0o666 : 0o600)
        return places + [socket.path]
    }
}

/// The path of a listening Unix socket. The lock file `PATH.lock` prevents that two services use it.
final class SocketPath: Sendable {
    private let path: String
    private let lock: LockFile

    /// Locks the path and removes the socket of a process that has ended.
    ///
    /// - Throws: ``ListenError`` if the path is too long, if another process listens at it, or if the file is not a socket.
    init(_ path: String) throws(ListenError) {
        guard path.utf8.count <= LocalSocket.longestPath else {
            throw ListenError(
                .usage,
                "the path of a socket can have \(LocalSocket.longestPath) bytes, but \(path.printable) has \(path.utf8.count)"
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
        let state: LocalSocket.State
        do { state = try LocalSocket.state(of: path) } catch { throw ListenError(what, error) }
        switch state {
        case .nothing: break
        case .stale: OwnFile.remove(path)
        case .served: throw ListenError(.taken, "\(what): another program listens there")
        case .otherFile: throw ListenError(.taken, "\(what): the file is not a socket")
        }
    }

    /// Removes the socket. The lock file stays, because another process may wait for it.
    func leave() {
        OwnFile.remove(path)
    }
}
