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
        let file = try HistoryPlace.file(arguments.history)
        if arguments.markStopped { return try HistoryPlace.markStopped(file) }
        // Before anything that starts threads, so that none of them is ended by one.
        let signals = EndSignals()
        let places = try ServePlaces(arguments)
        let front = ServeFront()
        let addresses: [String]
        do { addresses = try await places.listen(with: front.server) } catch {
            await front.server.stop()
            throw error
        }

        let clock = ServiceClock.system
        let history = file.map { HistoryWriter($0) { StandardError.write("reachability: \($0)") } }
        let resume = history?.resume(bootIdentifier: clock.bootIdentifier) ?? .init()
        let service = MonitoringService(clock: clock, resume: resume)
        history?.follow(service)
        do { try service.insert(.internet) } catch { throw ExitMessage(error) }
        front.answer(for: service, history)

        // Whether anybody reads it is nothing to a service.
        let line = "listening at \(addresses.joined(separator: ", "))".printable + "\n"
        _ = try? StandardStream.write(Array(line.utf8), to: STDOUT_FILENO)
        await signals.wait()
        await front.server.stop()
        history?.stop(at: service.snapshot.now)
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

    func answer(for service: MonitoringService, _ history: HistoryWriter?) {
        let version = CommandVersion.text.split(separator: " ").last.map(String.init) ?? ""
        let made = API(service, history: history, version: version) { [weak server] in
            server?.statistics ?? WebStatistics()
        }
        api.withLock { $0 = made }
    }
}
