import ArgumentParser
import CommandLineSupport

#if Fleet
import Glibc
import LinuxSupport
import MQTT
import NetworkReachability
import ReachabilityFleet
import ReachabilityFleetHub
import ReachabilityLedger
import ReachabilityService
import ReachabilityServer
#endif

/// `reachability fleet hub`: follows all machines, explains their outages, and answers until a signal ends it.
struct HubCommand: AsyncParsableCommand {
    static let configuration = FleetHubArguments.configuration

    @OptionGroup var arguments: FleetHubArguments

    #if Fleet
    func run() async throws {
        if let file = arguments.check { return try Self.check(file) }
        if arguments.reload { return try ServiceClient(socket: arguments.socket, json: false, of: .hub).reload() }
        let options = try HubOptions(arguments)
        let configuration = try arguments.config.map { try Self.read($0) } ?? ServiceConfiguration()
        let signals = EndSignals(reloads: arguments.config != nil)
        let places = try ListeningPlaces.hub(arguments, configuration.listen, warn: Self.say)
        let access = Access(warn: Self.say)
        do { _ = try access.prepare(configuration)() } catch {
            throw Self.refusal(configuration.placed(error), arguments.config ?? "")
        }
        // A site that fails reports all its devices at once.
        let responder = Responder(access, of: "hub", streamBytes: 32 << 20)
        let addresses: [String]
        do { addresses = try await places.listen(with: responder.server) } catch {
            await responder.server.stop()
            throw ExitMessage(error.text, error.status)
        }
        do {
            let store = try Self.store(arguments.history ?? configuration.history.path)
            let (feed, counts) = (HubFeed(), HubCounts())
            let retention = HubRetention(store, keep: configuration.history.keep)
            let run = String(UInt64.random(in: 0...(1 << 53)), radix: 36)
            let keeper = try HubKeeper(
                store,
                run: run,
                logger: .standardError
            )
            keeper.addListener(counts.count)
            keeper.addListener(feed.publish)
            let follower = BrokerFollower(options, broker: MosquittoBroker(), keeper: keeper, logger: .standardError)
            // Whoever has a configuration may name somebody in it later.
            let notifying = try arguments.config.map { _ in
                try HubNotifiers.begin(keeper, store, configuration)
            }
            let reloader = arguments.config.map { file in
                var preparations: [Reloader.Preparation] = [responder.prepareAccess, retention.prepare]
                if let notifying { preparations.append(notifying.prepare) }
                return Reloader(file, current: configuration, preparations: preparations)
            }
            let api = HubAPI(
                keeper,
                store: store,
                follower: follower,
                feed: feed,
                counts: counts,
                version: CommandVersion.number,
                access: access,
                reloader: reloader,
                notifiers: { notifying?.status ?? [] },
                statistics: { [weak server = responder.server] in server?.statistics ?? WebStatistics() }
            )
            responder.begin(api.router)
            try follower.begin()
            retention.begin()
            if let warning = options.broker.warning { Self.say(warning) }
            // Whether anybody reads it is nothing to a hub.
            let line = "listening at \(addresses.joined(separator: ", "))".printable + "\n"
            _ = try? StandardStream.write(Array(line.utf8), to: STDOUT_FILENO)
            await signals.wait { if let reloader { Self.reload(reloader) } }
            await responder.server.stop()
            await follower.stop()
            await notifying?.stop()
            retention.stop()
            keeper.stop()
        } catch {
            await responder.server.stop()
            switch error {
            case let fault as HistoryFault: throw ExitMessage(fault)
            case let problems as ConfigurationProblems:
                throw Self.refusal(configuration.placed(problems), arguments.config ?? "")
            case let error as NetworkReachabilityError: throw ExitMessage(error)
            default: throw error
            }
        }
    }

    private static func store(_ named: String?) throws -> any HubStore {
        if named == ListeningPlaces.none { return MemoryHubStore() }
        guard let file = named ?? StateDirectory.make().map({ $0 + "/hub.sqlite" }) else {
            throw ExitMessage(
                "there is no home directory for the history: name its file with --history, or none",
                .usage
            )
        }
        return try SQLiteHubStore(file)
    }

    /// Reads a configuration; what is wrong in it is told, and ends the program.
    private static func read(_ file: String) throws -> ServiceConfiguration {
        do { return try Reloader.read(file, for: .hub) } catch { throw refusal(error, file) }
    }

    private static func check(_ file: String) throws {
        let configuration = try read(file)
        do { try Access(warn: say).check(configuration) } catch { throw refusal(configuration.placed(error), file) }
        StandardOutput.write(text: "the configuration is valid")
    }

    private static func refusal(_ problems: ConfigurationProblems, _ file: String) -> ExitCode {
        tell(problems, file)
        return ExitCode(ExitMessage.Status.configuration.rawValue)
    }

    private static func tell(_ problems: ConfigurationProblems, _ file: String) {
        for problem in problems.problems { StandardError.write(problem.description(in: file)) }
    }

    private static func reload(_ reloader: Reloader) {
        do { say(reloader.applied(try reloader.reload())) } catch {
            tell(error, reloader.file)
            say(reloader.refused)
        }
    }

    @Sendable private static func say(_ text: String) { StandardError.write("reachability: \(text)") }
    #else
    func run() throws(ExitMessage) {
        let hint = "build it with libmosquitto and the trait Fleet"
        throw ExitMessage("this build has no hub: \(hint)", .unavailable)
    }
    #endif
}

#if Fleet
extension HubOptions {
    fileprivate init(_ arguments: FleetHubArguments) throws(ExitMessage) {
        guard let broker = arguments.broker else {
            throw ExitMessage("--broker says which broker to follow, as mqtts://HOST[:PORT]", .usage)
        }
        let (address, tls) = try BrokerArguments.read(
            broker,
            authority: arguments.authority,
            certificate: arguments.certificate,
            key: arguments.key
        )
        guard FleetName.isValid(arguments.name) else {
            throw ExitMessage("--name is a name of \(BrokerArguments.nameRule)", .usage)
        }
        self.init(broker: address, tls: tls, name: arguments.name)
    }
}

extension ExitMessage {
    fileprivate init(_ fault: HistoryFault) {
        self.init(fault.text, fault.kind == .locked ? .temporaryFailure : .ioError)
    }
}
#endif
