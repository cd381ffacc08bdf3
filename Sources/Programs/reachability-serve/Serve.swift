import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxPrimitives
import NetworkReachability
import ReachabilityServer
import ReachabilityService

/// `reachability serve`: watches, keeps the books, and answers until a signal ends it.
struct Serve: AsyncParsableCommand {
    static let configuration = ServeArguments.configuration

    @OptionGroup var arguments: ServeArguments

    func run() async throws {
        // Before anything that starts threads, so that none of them is ended by one.
        let signals = EndSignals()
        let places = try ServePlaces(arguments)
        let service = MonitoringService()
        do { try service.insert(.internet) } catch { throw ExitMessage(error) }
        let server = WebServer.answering(for: service)
        do {
            let addresses = try await places.listen(with: server)
            // Whether anybody reads it is nothing to a service.
            let line = "listening at \(addresses.joined(separator: ", "))".printable + "\n"
            _ = try? StandardStream.write(Array(line.utf8), to: STDOUT_FILENO)
        } catch {
            await server.stop()
            throw error
        }
        await signals.wait()
        await server.stop()
    }
}

extension WebServer {
    /// A server of the interface of a service.
    fileprivate static func answering(for service: MonitoringService) -> WebServer {
        let server = Locked<WebServer?>(nil)
        let version = CommandVersion.text.split(separator: " ").last.map(String.init) ?? ""
        let api = API(service, version: version, interfaces: .system) {
            server.withLock { $0 }?.statistics ?? WebStatistics()
        }
        var limits = WebLimits()
        // The rest of its descriptors the service needs itself.
        limits.connections = max(16, min(limits.connections, ProcessUsage.raiseDescriptorLimit() - 64))
        let made = WebServer(limits: limits) { request, done in done(api.answer(to: request)) }
        server.withLock { $0 = made }
        return made
    }
}
