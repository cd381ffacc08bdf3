#if Fleet
import ArgumentParser
import CommandLineSupport
import LinuxSupport
import MQTT
import ReachabilityFleet
import ReachabilityFleetAgent
import ReachabilityService

extension AgentOptions {
    /// What the command line says, and where it says nothing the file.
    init(_ arguments: FleetAgentArguments) throws {
        let settings = try arguments.config.map { try FleetSettings(file: $0) }
        let isWhole = [arguments.broker, arguments.site, arguments.device].allSatisfy { $0 != nil }
        guard settings != nil || isWhole else {
            throw ExitMessage("say --broker, --site and --device, or --config with a file that has [fleet]", .usage)
        }
        let site = arguments.site ?? settings?.site ?? ""
        let device = arguments.device ?? settings?.device ?? ""
        guard let place = FleetPlace(site: site, device: device) else {
            throw ExitMessage("--site and --device are names of \(BrokerArguments.nameRule)", .usage)
        }
        let (broker, tls) = try BrokerArguments.read(
            arguments.broker ?? settings?.broker.description ?? "",
            authority: arguments.authority ?? settings?.authority,
            certificate: arguments.certificate ?? settings?.certificate,
            key: arguments.key ?? settings?.key
        )
        self.init(broker: broker, tls: tls, place: place)
        jitter = try arguments.jitter?.value ?? settings?.jitter ?? jitter
        refresh = try arguments.refresh?.value ?? settings?.refresh ?? refresh
        willDelay = try arguments.willDelay?.value ?? settings?.willDelay ?? willDelay
        guard refresh >= .seconds(1), refresh <= .seconds(86_400) else {
            throw ExitMessage("--refresh is from 1s to 24h", .usage)
        }
        for word in arguments.allow + (settings?.allow ?? []) {
            guard let permission = Permission(rawValue: word) else {
                throw ExitMessage("--allow knows check and report, not \"\(word.printable)\"", .usage)
            }
            permissions.insert(permission)
        }
    }
}

extension FleetSettings {
    /// Reads them out of a service's configuration; what is wrong in it is told, and ends the program.
    fileprivate init(file: String) throws {
        let configuration: ServiceConfiguration
        do { configuration = try Reloader.read(file) } catch {
            for problem in error.problems { StandardError.write(problem.description(in: file)) }
            throw ExitCode(ExitMessage.Status.configuration.rawValue)
        }
        guard let settings = configuration.fleet else {
            throw ExitMessage("\(file.printable) says nothing of a fleet: write a table [fleet]", .configuration)
        }
        self = settings
    }
}
#endif
