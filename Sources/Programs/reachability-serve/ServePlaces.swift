import CommandLineSupport
import Glibc
import LinuxPrimitives
import ReachabilityServer
import ReachabilityService

/// Where the service listens.
struct ServePlaces {
    /// What turns one off.
    static let none = "none"

    let addresses: [ListenAddress]
    /// Nil for none.
    let socket: String?
    /// Whether the socket's directory is the service's own, to be made.
    private let isStandard: Bool

    /// - Throws: ``ExitMessage`` for what cannot be.
    init(_ arguments: ServeArguments, _ listen: ServiceConfiguration.Listen) throws(ExitMessage) {
        let texts = arguments.listen.isEmpty ? listen.http ?? [ListenAddress.standard] : arguments.listen
        do {
            addresses = try texts.filter { $0 != Self.none }.map { text throws(ListenError) in try ListenAddress(text) }
        } catch { throw ExitMessage(error) }
        if let named = arguments.socket ?? listen.socket {
            socket = named == Self.none ? nil : named
            isStandard = false
        } else {
            socket = ServiceSocket.directory.map { ServiceSocket.path(in: $0) }
            isStandard = true
        }
        guard socket != nil || !addresses.isEmpty else {
            throw ExitMessage(
                "there is nothing to listen at: name an address with --listen or a path with --socket",
                .usage
            )
        }
    }

    /// Listens everywhere, and returns where, as people write it.
    func listen(with server: WebServer) async throws(ExitMessage) -> [String] {
        var places: [String] = []
        do {
            for address in addresses { places.append("http://\(try await server.listen(at: address))/") }
            guard let socket else { return places }
            if isStandard, let directory = ServiceSocket.directory {
                do {
                    try OwnDirectory.make(directory, mode: geteuid() == 0 ? 0o755 : 0o700)
                } catch {
                    let status: ExitMessage.Status = error == .accessDenied ? .noPermission : .cantCreate
                    throw ExitMessage("cannot make the directory \(directory.printable): \(error)", status)
                }
            }
            // Everybody may ask root's service; another user's only this user.
            try await server.listen(at: socket, mode: geteuid() == 0 ? 0o666 : 0o600)
            return places + [socket]
        } catch let error as ListenError {
            throw ExitMessage(error)
        } catch let error as ExitMessage {
            throw error
        } catch {
            throw ExitMessage("cannot listen: \(error)", .unavailable)
        }
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
