import CommandLineSupport
import Glibc
import LinuxSupport
import ReachabilityServer
import ReachabilityService

/// The sockets on which the service listens: its own, and those that the service manager passed.
struct ServeSockets {
    private let own: ListenAddresses
    /// The sockets that the service manager passed. They replace the service's own sockets of the same kind.
    let inherited: [InheritedSocket]
    /// The reason why there is no Unix socket; nil if there is one, or if `--socket none` was given.
    let absence: String?

    /// A socket that the service manager passed.
    struct InheritedSocket {
        let socket: ListeningSocket
        /// Whether connections use TLS.
        let isSecured: Bool
    }

    /// - Parameter descriptors: The sockets from the service manager. Unix sockets replace the service's own, and TCP sockets its
    ///   addresses.
    /// - Throws: An error if a place cannot be used.
    init(
        _ arguments: ServeArguments,
        _ listen: ServiceConfiguration.Listen,
        _ descriptors: [ServiceManagerOffer.HandedDescriptor]
    ) throws {
        inherited = try descriptors.map { descriptor throws(ExitMessage) in try Self.socket(descriptor) }
        let hasLocal = inherited.contains { if case .local = $0.socket.place { true } else { false } }
        let internet = inherited.filter { if case .internet = $0.socket.place { true } else { false } }
        let named = arguments.places.socket ?? listen.socket
        absence = hasLocal || named != nil ? nil : ServiceSocket.service.absence
        let texts = arguments.listen.isEmpty ? listen.http ?? [ListenAddress.standard] : arguments.listen
        var places = try ListenAddresses(
            http: texts,
            https: listen.https ?? [],
            statusPage: listen.statusPage,
            socket: hasLocal ? nil : Self.ownSocket(named)
        )
        places.addresses.removeAll { address in
            !address.isPublic && internet.contains { $0.isSecured == address.isSecured }
        }
        own = places
        guard !own.isEmpty || !inherited.isEmpty else {
            throw ExitMessage(
                "cannot listen: no address and no socket is configured; name one with --listen or --socket",
                .usage
            )
        }
    }

    /// Returns the service's own socket. Every user can connect to the socket of root's service, and only the user to that of another.
    private static func ownSocket(_ named: String?) -> ListenAddresses.Socket? {
        let isCommon = geteuid() == 0
        if let named { return named == ListenAddresses.none ? nil : .init(named, isCommon: isCommon) }
        return ServiceSocket.service.directory.map { directory in
            .init(ServiceSocket.service.path(in: directory), directory: directory, isCommon: isCommon)
        }
    }

    /// Checks a socket that the service manager passed.
    private static func socket(
        _ descriptor: ServiceManagerOffer.HandedDescriptor
    ) throws(ExitMessage) -> InheritedSocket {
        let name = descriptor.name.isEmpty ? "" : " (\(descriptor.name.printable))"
        let what = "cannot listen at descriptor \(descriptor.number)\(name)"
        let socket: ListeningSocket
        do { socket = try ListeningSocket(descriptor.number) } catch {
            let why = error == .invalidArgument ? "it is not a listening stream socket" : error.description
            throw ExitMessage("\(what): \(why)", .configuration)
        }
        let isLocal: Bool
        let isSecured = descriptor.name == "https"
        do { isLocal = try InheritedAddress(socket, isSecured: isSecured).transport == .local } catch {
            throw ExitMessage(error.text, .configuration)
        }
        // A name is optional, but a name that does not match the socket is an error.
        if descriptor.name == "api", !isLocal { throw ExitMessage("\(what): it is not a Unix socket", .configuration) }
        if ["http", "https"].contains(descriptor.name), isLocal {
            throw ExitMessage("\(what): it is not a TCP socket", .configuration)
        }
        return InheritedSocket(socket: socket, isSecured: isSecured)
    }

    /// Listens at the inherited sockets, and returns their places as text.
    func adopt(with server: WebServer) async throws(ListenError) -> [String] {
        var places: [String] = []
        for one in inherited { places.append(try await server.listen(at: one.socket, isSecured: one.isSecured)) }
        return places
    }

    /// Listens at the service's own places, and returns them as text.
    func listen(with server: WebServer) async throws(ListenError) -> [String] {
        try await own.listen(with: server)
    }
}

extension ListenError: ExitError {
    var exitMessage: ExitMessage {
        let status: ExitMessage.Status =
            switch kind {
            case .usage: .usage
            case .taken: .unavailable
            case .denied: .noPermission
            case .failed: .cantCreate
            }
        return ExitMessage(text, status)
    }
}
