import ArgumentParser
import CommandLineSupport
import Dispatch
import Glibc
import LinuxPrimitives
import NIOHTTP1
import NetworkReachability
import ReachabilityServer
import ReachabilityService

/// `reachability serve`: watches, keeps the books, and answers until a signal ends it.
struct Serve: AsyncParsableCommand {
    static let configuration = ServeArguments.configuration

    @OptionGroup var arguments: ServeArguments

    func run() async throws {
        if let file = arguments.check {
            _ = try Self.read(file)
            return
        }
        let configuration = try arguments.config.map { try Self.read($0) } ?? ServiceConfiguration()
        let file = try HistoryPlace.file(arguments.history ?? configuration.history.path)
        if arguments.markStopped { return try HistoryPlace.markStopped(file) }
        // Before anything that starts threads, so that none of them is ended by one.
        let signals = EndSignals(reloads: arguments.config != nil)
        let places = try ServePlaces(arguments, configuration.listen)
        let front = ServeFront()
        let addresses: [String]
        do { addresses = try await places.listen(with: front.server) } catch {
            await front.server.stop()
            throw error
        }

        let clock = ServiceClock.system
        let history = file.map { file in
            HistoryWriter(file, .init(configuration.history)) { StandardError.write("reachability: \($0)") }
        }
        let resume = history?.resume(bootIdentifier: clock.bootIdentifier) ?? .init()
        let service = MonitoringService(clock: clock, resume: resume)
        history?.follow(service)
        do { try service.apply(configuration.targets) } catch {
            await front.server.stop()
            history?.stop(at: service.snapshot.now)
            throw ExitMessage("cannot watch \(error.target.printable): \(error.error.description)", .configuration)
        }
        // Whoever asks from now on finds this run begun in it.
        history?.flush()
        let reloader = arguments.config.map { Reloader($0, of: service, current: configuration) }
        front.answer(for: service, history, reloader)

        // Whether anybody reads it is nothing to a service.
        let line = "listening at \(addresses.joined(separator: ", "))".printable + "\n"
        _ = try? StandardStream.write(Array(line.utf8), to: STDOUT_FILENO)
        await signals.wait { if let reloader { Self.reload(reloader) } }
        service.endChecks()
        await front.server.stop()
        history?.stop(at: service.snapshot.now)
    }

    /// Reads a configuration; what is wrong in it is told, and ends the program.
    private static func read(_ file: String) throws -> ServiceConfiguration {
        do { return try Reloader.read(file) } catch {
            tell(error, file)
            throw ExitCode(ExitMessage.Status.configuration.rawValue)
        }
    }

    private static func tell(_ problems: ConfigurationProblems, _ file: String) {
        for problem in problems.problems { StandardError.write(problem.description(in: file)) }
    }

    private static func reload(_ reloader: Reloader) {
        do {
            let restart = try reloader.reload()
            let rest = restart.isEmpty ? "" : "; a restart is needed for \(restart.joined(separator: " and "))"
            StandardError.write("reachability: \(reloader.file.printable) is applied\(rest)")
        } catch {
            tell(error, reloader.file)
            StandardError.write("reachability: \(reloader.file.printable) is not applied; what was so before goes on")
        }
    }
}

extension HistoryWriter.Options {
    fileprivate init(_ history: ServiceConfiguration.History) {
        self.init()
        keep = history.keep ?? keep
        mark = history.mark ?? mark
    }
}

/// The server, which listens before there is anything to tell: a place that is taken is found out before anything is written.
private struct ServeFront {
    let server: WebServer
    private let api: Locked<API?>

    init() {
        let api = Locked<API?>(nil)
        // What is on the disk is read here, so that nobody else waits for it.
        let disk = DispatchQueue(label: "reachability.disk")
        var limits = WebLimits()
        // The rest of its descriptors the service needs itself.
        limits.connections = max(16, min(limits.connections, ProcessUsage.raiseDescriptorLimit() - 64))
        server = WebServer(limits: limits) { request, done in
            guard let api = api.withLock(\.self) else {
                return done(Problem(.serviceUnavailable, "the service is starting").answer(as: .json))
            }
            guard API.readsDisk(request) else { return done(api.answer(to: request)) }
            disk.async { done(api.answer(to: request)) }
        }
        self.api = api
    }

    func answer(for service: MonitoringService, _ history: HistoryWriter?, _ reloader: Reloader?) {
        let version = CommandVersion.text.split(separator: " ").last.map(String.init) ?? ""
        let made = API(service, history: history, reloader: reloader, version: version, interfaces: .system) {
            [weak server] in
            server?.statistics ?? WebStatistics()
        }
        api.withLock { $0 = made }
    }
}
