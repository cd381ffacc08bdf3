#if Fleet
import CommandLineSupport
import Glibc
import LinuxPrimitives
import ReachabilityServer
import ReachabilityService

/// Where a hub listens.
struct HubPlaces {
    /// What turns one off.
    static let none = "none"
    /// Beside the service's, for both may be on one machine.
    private static let address = "127.0.0.1:9673"

    private let addresses: [ListenAddress]
    private let socket: String?
    /// The directory of the socket, where it is our own, to be made.
    private let directory: String?
    /// Whether everybody may ask: of a service of the system.
    private let isCommon: Bool

    init(_ arguments: FleetHubArguments, _ listen: ServiceConfiguration.Listen) throws(ExitMessage) {
        let texts = arguments.listen.isEmpty ? listen.http ?? [Self.address] : arguments.listen
        do {
            let plain = try texts.filter { $0 != Self.none }.map { text throws(ListenError) in try ListenAddress(text) }
            let secured = try (listen.https ?? []).map { text throws(ListenError) in
                try ListenAddress(text, isSecured: true)
            }
            addresses = plain + secured
        } catch { throw ExitMessage(error.text, error.status) }
        let named = arguments.socket ?? listen.socket
        // What systemd has made for it (systemd.exec(5)).
        let made = EnvironmentVariable.value(of: "RUNTIME_DIRECTORY")?.split(separator: ":").first.map(String.init)
        let usual = made ?? ServiceSocket.hub.directory
        socket = named == Self.none ? nil : named ?? usual.map { ServiceSocket.hub.path(in: $0) }
        directory = named == nil && made == nil ? usual : nil
        isCommon = geteuid() == 0 || (named == nil && made != nil)
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
            for address in addresses {
                places.append("\(address.scheme)://\(try await server.listen(at: address))/")
            }
            guard let socket else { return places }
            if let directory { try OwnDirectory.make(directory, mode: isCommon ? 0o755 : 0o700) }
            try await server.listen(at: socket, mode: isCommon ? 0o666 : 0o600)
            return places + [socket]
        } catch let error as ListenError {
            throw ExitMessage(error.text, error.status)
        } catch {
            throw ExitMessage("cannot make the directory of the socket: \(error)", .cantCreate)
        }
    }
}

extension ListenError {
    fileprivate var status: ExitMessage.Status {
        switch kind {
        case .usage: .usage
        case .taken: .unavailable
        case .denied: .noPermission
        case .failed: .cantCreate
        }
    }
}
#endif
