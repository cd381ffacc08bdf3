import ArgumentParser
import CommandLineSupport
import Crypto
import Dispatch
import Glibc
import LinuxSupport
import NetworkDiagnostics
import NetworkReachability
import ReachabilityServer
import ReachabilityService
import ServerTrust

/// `reachability serve`: monitors, records and serves until a signal ends it.
struct Serve: AsyncParsableCommand {
    static let configuration = ServeArguments.configuration(subcommands: [TokenCommand.self])

    @OptionGroup var arguments: ServeArguments

    func run() async throws {
        if arguments.initialize { return try Initialization(arguments: arguments).run() }
        if let file = arguments.check {
            let configuration = try Self.read(file)
            do {
                try Access(warn: StandardError.report).check(configuration)
                for name in try configuration.checkSecrets() {
                    let isMissing = CredentialFile.path(of: name) == nil
                    let reason = isMissing ? CredentialFile.missing(name) : "this user may not read it"
                    StandardError.report("cannot check \(name.printable): \(reason)")
                }
            } catch {
                throw Self.refusal(configuration.placed(error), file)
            }
            CheckNotices.of(configuration.targets).forEach(StandardError.report)
            return StandardOutput.write(text: "the configuration is valid")
        }
        if arguments.reload {
            let places = arguments.places
            return try ServiceClient(socket: places.socket, url: places.url, tokenFile: places.tokenFile).reload()
        }
        let configuration = try arguments.config.map { try Self.read($0) } ?? ServiceConfiguration()
        if let name = arguments.testNotification { return try await test(name, of: configuration) }
        let file = try HistoryFile.file(arguments.places.history ?? configuration.history.path)
        if arguments.markStopped { return try HistoryFile.markStopped(file) }
        // A child process with an inherited SIG_IGN would lose its exit status.
        signal(SIGCHLD, SIG_DFL)
        // Before the first thread, so that no signal ends the process.
        let signals = EndSignals(reloads: arguments.config != nil)
        let supervision = Supervision(Supervision.offer.notify)
        let places = try ServeSockets(arguments, configuration.listen, Supervision.offer.descriptors)
        if let absence = places.absence { StandardError.report(absence) }
        let access = Access(warn: StandardError.report)
        do { _ = try access.prepare(configuration)() } catch {
            throw Self.refusal(configuration.placed(error), arguments.config ?? "")
        }
        if access.tls == nil, places.inherited.contains(where: \.isSecured) {
            let text =
                "cannot use TLS at the inherited socket: certificate and key are not configured; set them in [access]"
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
        let pushTokens = PushTokens()
        let gates = Gates(service, logger: .standardError)
        let openGates: @Sendable () -> Void
        do {
            try pushTokens.prepare(configuration)()
            openGates = try gates.prepare(configuration)
        } catch {
            await responder.server.stop()
            await notifying.stop()
            history?.stop(at: service.snapshot.now)
            throw Self.refusal(configuration.placed(error), arguments.config ?? "")
        }
        do { try service.apply(configuration.targets) } catch {
            await responder.server.stop()
            await notifying.stop()
            history?.stop(at: service.snapshot.now)
            throw ExitMessage("cannot watch \(error.target.printable): \(error.error.description)", .configuration)
        }
        service.snapshot.notices.forEach(StandardError.report)
        service.setMaintenance(configuration.maintenance)
        openGates()
        let bus =
            configuration.listen.isOnBus
            ? BusPublisher(service, version: CommandVersion.number, logger: .standardError) : nil
        // The history must contain the start of this run before the first response.
        history?.flush()
        let statusPage = Locked(configuration.statusPage)
        let reloader = arguments.config.map { file in
            let preparations: [Reloader.Preparation] = [
                responder.prepareAccess, notifying.prepare, gates.prepare, pushTokens.prepare,
                { next in { statusPage.withLock { $0 = next.statusPage } } }, { _ in { bus?.update() } },
            ]
            return Reloader(file, of: service, current: configuration, preparations: preparations)
        }
        let api = API(
            service,
            history: history,
            reloader: reloader,
            version: CommandVersion.number,
            access: access,
            interfaces: { try? NetworkInspector(options: NetworkReachabilityOptions()).interfaces() },
            evidence: { EvidenceObject($0, from: $1).bytes },
            statusPage: statusPage,
            pushTokens: pushTokens,
            notifiers: { [weak notifying] in notifying?.status ?? [] },
            testNotifier: { [weak notifying] in notifying?.test($0) ?? false },
            statistics: { [weak server = responder.server] in server?.statistics ?? WebStatistics() }
        )
        responder.begin(api.router)
        // Clients may already wait at the inherited sockets.
        addresses += try await places.adopt(with: responder.server)
        await supervision.begin(service, history, watchdog: Supervision.offer.watchdog)

        // A closed standard output does not end a service.
        let line = "listening at \(addresses.joined(separator: ", "))".printable + "\n"
        _ = try? StandardStream.write(Array(line.utf8), to: STDOUT_FILENO)
        await signals.wait {
            supervision.reloading { reloader?.reload(StandardError.report, write: StandardError.write) }
        }
        supervision.end()
        gates.stop()
        bus?.stop()
        service.endChecks()
        // Event streams end with the last event.
        service.deliver()
        await responder.server.stop()
        await notifying.stop()
        history?.stop(at: service.snapshot.now)
    }

    private static func makeNotifier(_ service: MonitoringService, _ history: HistoryWriter?) -> Notifier {
        Notifier(
            service,
            history: history,
            writer: NotificationWriter(host: HostName.ofMachine ?? "", OutageReader(service, history)),
            environment: NotifyEnvironment(hooks: NotifyHooks().run, programs: NotifyHooks.run),
            logger: .standardError
        )
    }

    /// Sends a test to a recipient of the configuration.
    private func test(_ name: String, of configuration: ServiceConfiguration) async throws {
        signal(SIGCHLD, SIG_DFL)
        let service = MonitoringService(clock: .system, resume: .init())
        let known: [String]?
        do {
            known = try await Notifier.test(
                name,
                of: configuration,
                writer: NotificationWriter(host: HostName.ofMachine ?? "", OutageReader(service, nil)),
                environment: NotifyEnvironment(hooks: NotifyHooks().run, programs: NotifyHooks.run),
                at: service.snapshot.now,
                logger: .standardError
            )
        } catch let problems as ConfigurationProblems {
            throw Self.refusal(configuration.placed(problems), arguments.config ?? "")
        } catch let failure as DeliveryFailure {
            throw ExitMessage("cannot notify \(name.printable): \(failure.text)", .unavailable)
        }
        guard let known else { return StandardOutput.write(text: "sent a test to \(name.printable)") }
        let names = known.isEmpty ? "it has none" : "its notifiers are \(known.joined(separator: ", ").printable)"
        throw ExitMessage("cannot notify \(name.printable): the configuration has no such notifier; \(names)", .usage)
    }

    /// Reads a configuration. If it is invalid, prints its errors and ends the program.
    private static func read(_ file: String) throws -> ServiceConfiguration {
        do { return try Reloader.read(file) } catch { throw refusal(error, file) }
    }

    /// Prints the errors, and returns the exit status of the program.
    private static func refusal(_ problems: ConfigurationProblems, _ file: String) -> ExitCode {
        problems.descriptions(in: file).forEach(StandardError.write)
        return ExitCode(ExitMessage.Status.configuration.rawValue)
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

/// The file of the history.
enum HistoryFile {
    /// Returns the file; nil if no history is stored.
    ///
    /// - Parameter named: The value of `--history`. If nil, the file is `history.sqlite` in ``StateDirectory``.
    static func file(_ named: String?) throws(ExitMessage) -> String? {
        if let named { return named == ListenAddresses.none ? nil : named }
        guard let directory = StateDirectory.make() else {
            throw ExitMessage(
                "cannot store the history: there is no home directory; name a file with --history, or use --history none",
                .usage
            )
        }
        return directory + "/history.sqlite"
    }

    /// Records that a killed service ended now. Must be called after its end.
    ///
    /// If the watchdog killed the service (`SERVICE_RESULT` of `systemd.exec(5)`), nothing is recorded, because the service hung for an
    /// unknown time.
    static func markStopped(_ file: String?) throws(ExitMessage) {
        guard let file else {
            throw ExitMessage("cannot mark the history: the service is configured without a history", .usage)
        }
        if EnvironmentVariable.value(of: "SERVICE_RESULT") == "watchdog" { return }
        let clock = ServiceClock.system
        do {
            let store = try HistoryStore(file)
            defer { store.close() }
            // There may be no run since the last boot.
            guard let line = try store.resume(bootIdentifier: clock.bootIdentifier).line else { return }
            // The service manager starts this process some time after the end of the service.
            let boot = clock.monitor.boot
            try store.markLastRun(at: line.instant(at: min(boot, ProcessStart.boot ?? boot)))
        } catch let fault as HistoryError {
            throw ExitMessage(fault.text, fault.kind == .locked ? .temporaryFailure : .ioError)
        } catch {
            throw ExitMessage("cannot use the history \(file.printable): \(error)", .ioError)
        }
    }
}

/// `reachability serve token`: creates a token, and prints it with the configuration that contains its digest.
struct TokenCommand: ParsableCommand {
    static let configuration = TokenArguments.configuration

    @OptionGroup var arguments: TokenArguments

    func validate() throws {
        guard AccessSettings.Scope(rawValue: arguments.scope) != nil else {
            throw ValidationError("--scope takes read or admin, not \"\(arguments.scope.printable)\".")
        }
        guard AccessSettings.Token.isName(arguments.name) else {
            throw ValidationError("--name takes 1 to 64 bytes without control characters.")
        }
    }

    func run() {
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<32).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        // The alphabet for URLs (RFC 4648, section 5) contains no special characters of shells or headers.
        let text = Base64.encode(secret).replacing(scalars: "+", with: "-").replacing(scalars: "/", with: "_")
            .replacing(scalars: "=", with: "")
        let token = "rt_\(text)"
        let digest = SHA256.hash(data: Array(token.utf8)).hexadecimal()
        let name = arguments.name.replacing(scalars: "\\", with: "\\\\").replacing(scalars: "\"", with: "\\\"")
        let lines = [
            token, "", "[[access.tokens]]", "name = \"\(name)\"", "sha256 = \"\(digest)\"",
            "scope = \"\(arguments.scope)\"",
        ]
        for line in lines { StandardOutput.write(text: line) }
    }
}
