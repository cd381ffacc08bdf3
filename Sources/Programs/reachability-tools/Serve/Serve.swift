import ArgumentParser
import CommandLineSupport
import Dispatch
import Glibc
import LinuxSupport
import NetworkDiagnostics
import NetworkReachability
import ReachabilityRetry
import ReachabilityServer
import ReachabilityService

/// `reachability serve`: watches, keeps the books, and answers until a signal ends it.
struct Serve: AsyncParsableCommand {
    static let configuration = ServeArguments.configuration(subcommands: [TokenCommand.self])

    @OptionGroup var arguments: ServeArguments

    func run() async throws {
        if let file = arguments.check {
            let configuration = try Self.read(file)
            do { try Access(warn: Self.warn).check(configuration) } catch {
                throw Self.refusal(configuration.placed(error), file)
            }
            CheckNotices.of(configuration.targets).forEach(Self.warn)
            return StandardOutput.write(text: "the configuration is valid")
        }
        if arguments.reload { return try ServiceClient(socket: arguments.socket, json: false).reload() }
        let configuration = try arguments.config.map { try Self.read($0) } ?? ServiceConfiguration()
        let file = try HistoryPlace.file(arguments.history ?? configuration.history.path)
        if arguments.markStopped { return try HistoryPlace.markStopped(file) }
        // What we wait for must not be taken away by an inherited "ignore".
        signal(SIGCHLD, SIG_DFL)
        // Before anything that starts threads, so that none of them is ended by one.
        let signals = EndSignals(reloads: arguments.config != nil)
        let supervision = Supervision(Supervision.offer.notify)
        let places = try ServePlaces(arguments, configuration.listen, Supervision.offer.descriptors)
        if let absence = places.absence { Self.warn(absence) }
        let access = Access(warn: Self.warn)
        do { _ = try access.prepare(configuration)() } catch {
            throw Self.refusal(configuration.placed(error), arguments.config ?? "")
        }
        if access.tls == nil, places.inherited.contains(where: \.isSecured) {
            let text = "cannot speak TLS at the socket that was handed over: say certificate and key in [access]"
            throw ExitMessage(text, .configuration)
        }
        let responder = Responder(access, of: "service")
        var addresses: [String]
        do { addresses = try await places.listen(with: responder.server) } catch {
            await responder.server.stop()
            throw error
        }

        let clock = ServiceClock.system
        let history = file.map { file in
            HistoryWriter(file, .init(configuration.history), logger: .standardError)
        }
        let resume = history?.resume(bootIdentifier: clock.bootIdentifier) ?? .init()
        let service = MonitoringService(clock: clock, resume: resume)
        history?.follow(service)
        let notifying = Self.makeNotifier(service, history)
        notifying.begin()
        do { try notifying.prepare(configuration)() } catch {
            await responder.server.stop()
            history?.stop(at: service.snapshot.now)
            throw Self.refusal(configuration.placed(error), arguments.config ?? "")
        }
        do { try service.apply(configuration.targets) } catch {
            await responder.server.stop()
            await notifying.stop()
            history?.stop(at: service.snapshot.now)
            throw ExitMessage("cannot watch \(error.target.printable): \(error.error.description)", .configuration)
        }
        service.snapshot.notices.forEach(Self.warn)
        service.setMaintenance(configuration.maintenance)
        // Whoever asks from now on finds this run begun in it.
        history?.flush()
        let reloader = arguments.config.map { file in
            Reloader(
                file,
                of: service,
                current: configuration,
                preparations: [responder.prepareAccess, notifying.prepare]
            )
        }
        let answering = API(
            service,
            history: history,
            reloader: reloader,
            version: CommandVersion.number,
            access: access,
            interfaces: { try? NetworkInspector(options: NetworkReachabilityOptions()).interfaces() },
            evidence: { EvidenceObject($0, from: $1).bytes },
            notifiers: { [weak notifying] in notifying?.status ?? [] },
            statistics: { [weak server = responder.server] in server?.statistics ?? WebStatistics() }
        )
        api.withLock { $0 = answering }
        responder.begin(answering.router)
        // Who waits there already finds an answer.
        addresses += try await places.adopt(with: responder.server)
        await supervision.begin(service, history, watchdog: Supervision.offer.watchdog)

        // Whether anybody reads it is nothing to a service.
        let line = "listening at \(addresses.joined(separator: ", "))".printable + "\n"
        _ = try? StandardStream.write(Array(line.utf8), to: STDOUT_FILENO)
        await signals.wait { if let reloader { supervision.reloading { Self.reload(reloader) } } }
        supervision.end()
        service.endChecks()
        // Streams end with what happened last.
        service.deliver()
        await responder.server.stop()
        await notifying.stop()
        history?.stop(at: service.snapshot.now)
    }

    private static func makeNotifier(_ service: MonitoringService, _ history: HistoryWriter?) -> Notifier {
        let host = TextFile.read("/proc/sys/kernel/hostname")?.filter { !$0.isWhitespace } ?? ""
        let environment = NotifyEnvironment(
            coordinator: RetryCoordinator(limits: NotifyEnvironment.limits, clock: QuietClock()),
            hooks: NotifyHooks().run
        )
        return Notifier(
            service,
            history: history,
            writer: NotificationWriter(host: host, OutageReader(service, history)),
            environment: environment,
            logger: .standardError
        )
    }

    /// Reads a configuration; what is wrong in it is told, and ends the program.
    private static func read(_ file: String) throws -> ServiceConfiguration {
        do { return try Reloader.read(file) } catch { throw refusal(error, file) }
    }

    /// What ends the program, when what is wrong has been told.
    private static func refusal(_ problems: ConfigurationProblems, _ file: String) -> ExitCode {
        tell(problems, file)
        return ExitCode(ExitMessage.Status.configuration.rawValue)
    }

    @Sendable private static func warn(_ text: String) { StandardError.write("reachability: \(text)") }

    private static func tell(_ problems: ConfigurationProblems, _ file: String) {
        for problem in problems.problems { StandardError.write(problem.description(in: file)) }
    }

    private static func reload(_ reloader: Reloader) {
        do {
            StandardError.write("reachability: \(reloader.applied(try reloader.reload()))")
        } catch {
            tell(error, reloader.file)
            StandardError.write("reachability: \(reloader.refused)")
        }
    }
}

extension HistoryWriter.Options {
    fileprivate init(_ history: ServiceConfiguration.History) {
        self.init()
        keep = history.keep ?? keep
        mark = history.mark ?? mark
        maximumSize = history.maximumSize ?? maximumSize
    }
}
