import CommandLineSupport
import Glibc
import LinuxSupport
import ReachabilityServer
import ReachabilityService

/// Where the service listens.
struct ServePlaces {
    private let own: ListeningPlaces
    /// What was handed over, in place of what it would make itself.
    let inherited: [InheritedSocket]
    /// Why there is no Unix socket, although none was declined.
    let absence: String?

    /// A socket that was handed over.
    struct InheritedSocket {
        let socket: ListeningSocket
        let isSecured: Bool
    }

    /// - Parameter descriptors: What the service manager hands over: Unix sockets in place of the service's own, those of TCP in place of
    ///   its addresses.
    /// - Throws: ``ExitMessage`` for what cannot be.
    init(
        _ arguments: ServeArguments,
        _ listen: ServiceConfiguration.Listen,
        _ descriptors: [ServiceManagerOffer.HandedDescriptor]
    ) throws(ExitMessage) {
        inherited = try descriptors.map { descriptor throws(ExitMessage) in try Self.socket(descriptor) }
        let hasLocal = inherited.contains { if case .local = $0.socket.place { true } else { false } }
        let internet = inherited.filter { if case .internet = $0.socket.place { true } else { false } }
        let named = arguments.socket ?? listen.socket
        absence = hasLocal || named != nil ? nil : ServiceSocket.service.absence
        let texts = arguments.listen.isEmpty ? listen.http ?? [ListenAddress.standard] : arguments.listen
        do {
            var places = try ListeningPlaces(
                http: texts,
                https: listen.https ?? [],
                socket: hasLocal ? nil : Self.ownSocket(named)
            )
            places.addresses.removeAll { address in internet.contains { $0.isSecured == address.isSecured } }
            own = places
        } catch { throw ExitMessage(error) }
        guard !own.isEmpty || !inherited.isEmpty else {
            throw ExitMessage(
                "there is nothing to listen at: name an address with --listen or a path with --socket",
                .usage
            )
        }
    }

    /// Everybody may ask root's service; another user's only this user.
    private static func ownSocket(_ named: String?) -> ListeningPlaces.Socket? {
        let isCommon = geteuid() == 0
        if let named { return named == ListeningPlaces.none ? nil : .init(named, isCommon: isCommon) }
        return ServiceSocket.service.directory.map { directory in
            .init(ServiceSocket.service.path(in: directory), directory: directory, isCommon: isCommon)
        }
    }

    /// A socket that was handed over, if it is one that may be listened at.
    private static func socket(
        _ descriptor: ServiceManagerOffer.HandedDescriptor
    ) throws(ExitMessage) -> InheritedSocket {
        let name = descriptor.name.isEmpty ? "" : " (\(descriptor.name.printable))"
        let what = "cannot listen at descriptor \(descriptor.number)\(name)"
        let socket: ListeningSocket
        do { socket = try ListeningSocket(descriptor.number) } catch {
            let why = error == .invalidArgument ? "it is no stream that listens" : error.description
            throw ExitMessage("\(what): \(why)", .configuration)
        }
        let isLocal: Bool
        let isSecured = descriptor.name == "https"
        do { isLocal = try InheritedPlace(socket, isSecured: isSecured).transport == .local } catch {
            throw ExitMessage(error.text, .configuration)
        }
        // The names are optional, and must be right.
        if descriptor.name == "api", !isLocal { throw ExitMessage("\(what): it is no Unix socket", .configuration) }
        if ["http", "https"].contains(descriptor.name), isLocal {
            throw ExitMessage("\(what): it is no TCP socket", .configuration)
        }
        return InheritedSocket(socket: socket, isSecured: isSecured)
    }

    /// Listens at what was handed over, and returns where that is.
    func adopt(with server: WebServer) async throws(ExitMessage) -> [String] {
        var places: [String] = []
        do throws(ListenError) {
            for one in inherited {
                places.append(try await server.listen(at: one.socket, isSecured: one.isSecured))
            }
        } catch { throw ExitMessage(error) }
        return places
    }

    /// Listens everywhere else, and returns where, as people write it.
    func listen(with server: WebServer) async throws(ExitMessage) -> [String] {
        do { return try await own.listen(with: server) } catch { throw ExitMessage(error) }
    }
}

extension ExitMessage {
    init(_ error: ListenError) {
        let status: ExitMessage.Status =
            switch error.kind {
            case .usage: .usage
            case .taken: .unavailable
            case .denied: .noPermission
            case .failed: .cantCreate
            }
        self.init(error.text, status)
    }
}
