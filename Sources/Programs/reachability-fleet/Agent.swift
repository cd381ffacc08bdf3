import ArgumentParser
import CommandLineSupport

#if Fleet
import Glibc
import LinuxSupport
import MQTT
import NetworkReachability
import ReachabilityFleet
import ReachabilityFleetAgent
import ReachabilityLedger
import ReachabilityService
import ServerTrust
#endif

/// `reachability fleet agent`: publishes the state of this machine to a broker until a signal ends it.
struct Agent: AsyncParsableCommand {
    static let configuration = FleetAgentArguments.configuration

    @OptionGroup var arguments: FleetAgentArguments

    #if Fleet
    func run() async throws {
        let options = try AgentOptions(arguments)
        let place = try AgentPositionFile(arguments, options.place)
        let signals = EndSignals(reloads: false)
        let agent = FleetAgent(
            options,
            broker: MosquittoBroker(),
            source: ServiceLog(socket: arguments.socket ?? ServiceSocket.service.usual),
            file: place.file,
            advice: { [certificate = options.tls.certificate] in
                certificate.flatMap { CertificateLife.advice(certificate: $0, at: .now) }
            },
            log: StandardError.report
        )
        if let warning = options.broker.warning { StandardError.report(warning) }
        let leaving = Task { [numbers = signals.numbers] in
            for await number in numbers { agent.leave(number == SIGINT ? "interrupted" : "stopped") }
        }
        defer { leaving.cancel() }
        try await agent.run()
        withExtendedLifetime(signals) {}
        place.keep()
    }
    #else
    func run() throws(ExitMessage) {
        throw ExitMessage(
            "cannot run the fleet: this build has no support for it; build with libmosquitto and the trait Fleet",
            .unavailable
        )
    }
    #endif
}

#if Fleet
extension AgentOptions {
    /// Reads the command line. For options that are not given, the configuration file applies.
    init(_ arguments: FleetAgentArguments) throws {
        let settings = try arguments.config.map { try FleetSettings(file: $0) }
        let isWhole = [arguments.broker, arguments.site, arguments.device].allSatisfy { $0 != nil }
        guard settings != nil || isWhole else {
            throw ExitMessage("give --broker, --site and --device, or --config with a file that has [fleet]", .usage)
        }
        let site = arguments.site ?? settings?.site ?? ""
        let device = arguments.device ?? settings?.device ?? ""
        guard let place = DeviceID(site: site, device: device) else {
            throw ExitMessage("--site and --device take \(FleetName.rule)", .usage)
        }
        let (broker, tls) = try BrokerArguments.read(
            arguments.broker ?? settings?.broker.description ?? "",
            authority: arguments.authority ?? settings?.authority,
            certificate: arguments.certificate ?? settings?.certificate,
            key: arguments.key ?? settings?.key
        )
        self.init(broker: broker, tls: tls, place: place)
        switch (arguments.user ?? settings?.user, arguments.passwordFile ?? settings?.passwordFile) {
        case (let user?, let file?): login = .init(user: user, passwordFile: file)
        case (nil, nil): break
        default: throw ExitMessage("--user and --password-file require each other", .usage)
        }
        jitter = try arguments.jitter?.value ?? settings?.jitter ?? jitter
        refresh = try arguments.refresh?.value ?? settings?.refresh ?? refresh
        willDelay = try arguments.willDelay?.value ?? settings?.willDelay ?? willDelay
        guard refresh >= .seconds(1), refresh <= .seconds(86_400) else {
            throw ExitMessage("--refresh takes a duration from 1s to 24h", .usage)
        }
        for word in arguments.allow + (settings?.allow ?? []) {
            guard let permission = Permission(rawValue: word) else {
                throw ExitMessage("--allow takes check or report, not \"\(word.printable)\"", .usage)
            }
            permissions.insert(permission)
        }
        if let isEnabled = arguments.homeAssistant ?? settings?.homeAssistant {
            let prefix = arguments.homeAssistantPrefix ?? settings?.homeAssistantPrefix ?? HomeAssistant.usualPrefix
            guard FleetSettings.isPrefix(prefix) else {
                throw ExitMessage("--home-assistant-prefix takes \(FleetSettings.prefixRule)", .usage)
            }
            guard HomeAssistant.supports(place) else {
                throw ExitMessage("--home-assistant requires a site and a device without \".\"", .usage)
            }
            homeAssistant = HomeAssistant(prefix: prefix, isEnabled: isEnabled, version: CommandVersion.number)
        }
    }
}

extension FleetSettings {
    /// Reads the settings from the table `[fleet]` of a service's configuration. If the table is invalid, prints its errors and ends the program.
    fileprivate init(file: String) throws {
        let configuration: ServiceConfiguration
        do { configuration = try Reloader.read(file, for: .agent) } catch {
            error.descriptions(in: file).forEach(StandardError.write)
            throw ExitCode(ExitMessage.Status.configuration.rawValue)
        }
        guard let settings = configuration.fleet else {
            throw ExitMessage("cannot use \(file.printable): it has no table [fleet]", .configuration)
        }
        self = settings
    }
}

/// The file that stores an agent's position in the event log. Only one agent uses it at a time.
struct AgentPositionFile: ~Copyable {
    let file: CursorFile?
    private let lock: LockFile?

    init(_ arguments: FleetAgentArguments, _ place: DeviceID) throws(ExitMessage) {
        guard arguments.state != "none" else {
            file = nil
            lock = nil
            return
        }
        // Names cannot contain a comma, so each site and device has its own file.
        let named = arguments.state ?? StateDirectory.make().map { "\($0)/agent-\(place.site),\(place.device)" }
        guard let path = named else {
            throw ExitMessage(
                "cannot store the state: there is no home directory; name a file with --state, or use --state none",
                .usage
            )
        }
        do {
            lock = try LockFile(path + ".lock")
        } catch .tryAgain {
            throw ExitMessage(
                "cannot use \(path.printable): another agent uses it; give each agent its own --state",
                .temporaryFailure
            )
        } catch {
            throw ExitMessage("cannot use \(path.printable) for the state: \(error)", .cantCreate)
        }
        file = CursorFile(path)
    }

    /// Releases the lock.
    consuming func keep() {}
}

/// The broker options of the command line.
enum BrokerArguments {
    static func read(
        _ text: String,
        authority: String?,
        certificate: String?,
        key: String?
    ) throws(ExitMessage) -> (BrokerAddress, BrokerOptions.TLS) {
        guard let broker = BrokerAddress(text) else {
            let hint = "write mqtts://HOST, mqtts://HOST:PORT or mqtt://HOST"
            throw ExitMessage("\"\(text.secretsMasked.printable)\" is not the address of a broker; \(hint)", .usage)
        }
        // The file of the certificate may also contain the key.
        let tls = BrokerOptions.TLS(authority: authority, certificate: certificate, key: key ?? certificate)
        guard key == nil || certificate != nil else { throw ExitMessage("--key needs --certificate", .usage) }
        guard broker.isSecured || tls == BrokerOptions.TLS() else {
            throw ExitMessage("--authority, --certificate and --key need a broker with TLS: mqtts://", .usage)
        }
        return (broker, tls)
    }
}

extension BrokerAddress {
    /// The warning about a broker without TLS; nil for a broker with TLS.
    var warning: String? {
        if isSecured { return nil }
        return
            "\(self) is not encrypted: others on the network can read all messages, and can impersonate the broker or the machine"
    }
}
#endif
