#if Fleet
import CommandLineSupport
import Glibc
import LinuxSupport
import ReachabilityServer
import ReachabilityService

extension ListeningPlaces {
    /// Beside the service's, for both may be on one machine.
    private static let hubAddress = "127.0.0.1:9673"

    /// Where a hub listens.
    ///
    /// - Throws: ``ExitMessage`` for what cannot be.
    static func hub(
        _ arguments: FleetHubArguments,
        _ listen: ServiceConfiguration.Listen,
        warn: (String) -> Void
    ) throws(ExitMessage) -> ListeningPlaces {
        let texts = arguments.listen.isEmpty ? listen.http ?? [hubAddress] : arguments.listen
        let named = arguments.socket ?? listen.socket
        // What systemd has made for it (systemd.exec(5)).
        let made = EnvironmentVariable.value(of: "RUNTIME_DIRECTORY")?.split(at: ":").first.map(String.init)
        let usual = made ?? ServiceSocket.hub.directory
        let socket: Socket?
        if let named {
            socket = named == none ? nil : Socket(named, isCommon: geteuid() == 0)
        } else {
            if made == nil, let absence = ServiceSocket.hub.absence { warn(absence) }
            let directory = made == nil ? usual : nil
            socket = usual.map {
                Socket(ServiceSocket.hub.path(in: $0), directory: directory, isCommon: geteuid() == 0 || made != nil)
            }
        }
        let places: ListeningPlaces
        do { places = try ListeningPlaces(http: texts, https: listen.https ?? [], socket: socket) } catch {
            throw ExitMessage(error.text, error.status)
        }
        guard !places.isEmpty else {
            throw ExitMessage(
                "there is nothing to listen at: name an address with --listen or a path with --socket",
                .usage
            )
        }
        return places
    }
}

extension ListenError {
    var status: ExitMessage.Status {
        switch kind {
        case .usage: .usage
        case .taken: .unavailable
        case .denied: .noPermission
        case .failed: .cantCreate
        }
    }
}
#endif
