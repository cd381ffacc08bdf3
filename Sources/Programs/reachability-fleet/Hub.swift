import ArgumentParser
import CommandLineSupport

#if Fleet
import Dispatch
import Glibc
import LinuxSupport
import MQTT
import NIOHTTP1
import NetworkReachability
import ReachabilityFleet
import ReachabilityFleetHub
import ReachabilityLedger
import ReachabilityServer
import ReachabilityService
#endif

/// `reachability fleet hub`: collects the states of all machines, explains outages, and serves them until a signal ends it.
struct HubCommand: AsyncParsableCommand {
    static let configuration = FleetHubArguments.configuration

    @OptionGroup var arguments: FleetHubArguments

    #if Fleet
    func run() async throws {
        if let file = arguments.check { return try Self.check(file) }
        if arguments.reload {
            let places = arguments.places
            let (socket, url, token) = (places.socket, places.url, places.tokenFile)
            return try ServiceClient(socket: socket, url: url, tokenFile: token, of: .hub).reload()
        }
        let options = try HubOptions(arguments)
        let configuration = try arguments.config.map { try Self.read($0) } ?? ServiceConfiguration()
        let signals = EndSignals(reloads: arguments.config != nil)
        let places = try ListenAddresses.hub(arguments, configuration.listen, warn: StandardError.report)
        let access = Access(warn: StandardError.report)
        do { _ = try access.prepare(configuration)() } catch {
            throw Self.refusal(configuration.placed(error), arguments.config ?? "")
        }
        // If a site fails, all its devices change at once.
        let responder = Responder(access, of: "hub", streamBytes: 32 << 20)
        let addresses: [String]
        do { addresses = try await places.listen(with: responder.server) } catch {
            await responder.server.stop()
            throw error
        }
        do {
            let store = try Self.store(arguments.places.history ?? configuration.history.path)
            let (feed, counts) = (HubFeed(), HubCounts())
            let retention = HubRetention(store, keep: configuration.history.keep)
            let run = String(UInt64.random(in: 0...(1 << 53)), radix: 36)
            let writer = try HubWriter(store, run: run, logger: .standardError)
            writer.addListener(counts.count)
            writer.addListener(feed.publish)
            let follower = BrokerFollower(options, broker: MosquittoBroker(), writer: writer, logger: .standardError)
            // Without a notifier now, a reload may add one.
            let notifier = try arguments.config.map { _ in try Self.makeNotifier(writer, store, configuration) }
            let reloader = arguments.config.map { file in
                var preparations: [Reloader.Preparation] = [responder.prepareAccess, retention.prepare]
                if let notifier { preparations.append(notifier.prepare) }
                return Reloader(file, current: configuration, preparations: preparations)
            }
            let api = HubAPI(
                writer,
                store: store,
                follower: follower,
                feed: feed,
                counts: counts,
                version: CommandVersion.number,
                access: access,
                reloader: reloader,
                notifiers: { notifier?.status ?? [] },
                statistics: { [weak server = responder.server] in server?.statistics ?? WebStatistics() }
            )
            responder.begin(api.router)
            try follower.begin()
            retention.begin()
            if let warning = options.broker.warning { StandardError.report(warning) }
            // A closed standard output does not end a hub.
            let line = "listening at \(addresses.joined(separator: ", "))".printable + "\n"
            _ = try? StandardStream.write(Array(line.utf8), to: STDOUT_FILENO)
            await signals.wait { reloader?.reload(StandardError.report, write: StandardError.write) }
            await responder.server.stop()
            await follower.stop()
            await notifier?.stop()
            retention.stop()
            writer.stop()
        } catch {
            await responder.server.stop()
            switch error {
            case let problems as ConfigurationProblems:
                throw Self.refusal(configuration.placed(problems), arguments.config ?? "")
            default: throw error
            }
        }
    }

    /// Creates the notifier of a hub. Must be called before the first message of a machine.
    private static func makeNotifier(
        _ writer: HubWriter,
        _ store: HubStore,
        _ configuration: ServiceConfiguration
    ) throws(ConfigurationProblems) -> Notifier {
        // A child process with an inherited SIG_IGN would lose its exit status.
        signal(SIGCHLD, SIG_DFL)
        let notifier = Notifier(
            writer,
            store: store,
            writer: FleetNotificationWriter(host: HostName.ofMachine ?? ""),
            environment: NotifyEnvironment(hooks: NotifyHooks().run, programs: NotifyHooks.run),
            logger: .standardError
        )
        let use = try notifier.prepare(configuration)
        notifier.begin()
        use()
        return notifier
    }

    private static func store(_ named: String?) throws -> HubStore {
        if named == ListenAddresses.none { return try HubStore() }
        guard let file = named ?? StateDirectory.make().map({ $0 + "/hub.sqlite" }) else {
            throw ExitMessage(
                "cannot store the history: there is no home directory; name a file with --history, or use --history none",
                .usage
            )
        }
        return try HubStore(file)
    }

    /// Reads a configuration. If it is invalid, prints its errors and ends the program.
    private static func read(_ file: String) throws -> ServiceConfiguration {
        do { return try Reloader.read(file, for: .hub) } catch { throw refusal(error, file) }
    }

    private static func check(_ file: String) throws {
        let configuration = try read(file)
        do { try Access(warn: StandardError.report).check(configuration) } catch {
            throw refusal(configuration.placed(error), file)
        }
        StandardOutput.write(text: "the configuration is valid")
    }

    private static func refusal(_ problems: ConfigurationProblems, _ file: String) -> ExitCode {
        problems.descriptions(in: file).forEach(StandardError.write)
        return ExitCode(ExitMessage.Status.configuration.rawValue)
    }
    #else
    func run() throws(ExitMessage) {
        let hint = "build with libmosquitto and the trait Fleet"
        throw ExitMessage("cannot run the hub: this build has no support for it; \(hint)", .unavailable)
    }
    #endif
}

#if Fleet
extension HubOptions {
    fileprivate init(_ arguments: FleetHubArguments) throws(ExitMessage) {
        guard let broker = arguments.broker else {
            throw ExitMessage("--broker is required: mqtts://HOST[:PORT] or mqtt://HOST[:PORT]", .usage)
        }
        let (address, tls) = try BrokerArguments.read(
            broker,
            authority: arguments.authority,
            certificate: arguments.certificate,
            key: arguments.key
        )
        guard FleetName.isValid(arguments.name) else {
            throw ExitMessage("--name takes \(FleetName.rule)", .usage)
        }
        self.init(broker: address, tls: tls, name: arguments.name)
    }
}

extension HistoryError: ExitError {
    var exitMessage: ExitMessage { ExitMessage(text, kind == .locked ? .temporaryFailure : .ioError) }
}
#endif

#if Fleet
extension ListenAddresses {
    /// The default address of a hub. It differs from that of a service, because one machine may run both.
    private static let hubAddress = "127.0.0.1:9673"

    /// Creates the listening places of a hub.
    ///
    /// - Throws: ``ExitMessage`` or an error of the places if they cannot be used.
    static func hub(
        _ arguments: FleetHubArguments,
        _ listen: ServiceConfiguration.Listen,
        warn: (String) -> Void
    ) throws -> ListenAddresses {
        let texts = arguments.listen.isEmpty ? listen.http ?? [hubAddress] : arguments.listen
        let named = arguments.places.socket ?? listen.socket
        // The directory that systemd created for the hub (systemd.exec(5)).
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
        let places = try ListenAddresses(http: texts, https: listen.https ?? [], socket: socket)
        guard !places.isEmpty else {
            throw ExitMessage(
                "cannot listen: no address and no socket is configured; name one with --listen or --socket",
                .usage
            )
        }
        return places
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
#endif
