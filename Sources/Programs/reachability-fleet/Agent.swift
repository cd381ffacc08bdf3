import ArgumentParser
import CommandLineSupport

#if Fleet
import Glibc
import LinuxSupport
import MQTT
import NetworkReachability
import ReachabilityFleetAgent
import ServerTrust
#endif

/// `reachability fleet agent`: tells a broker of this machine until a signal ends it.
struct Agent: AsyncParsableCommand {
    static let configuration = FleetAgentArguments.configuration

    @OptionGroup var arguments: FleetAgentArguments

    #if Fleet
    func run() async throws {
        let options = try AgentOptions(arguments)
        let place = try AgentPlace(arguments, options.place)
        let signals = EndSignals(reloads: false)
        let agent = FleetAgent(
            options,
            broker: MosquittoBroker(),
            log: ServiceLog(socket: arguments.socket ?? ServiceSocket.service.usual),
            file: place.file,
            advice: { [certificate = options.tls.certificate] in
                certificate.flatMap { CertificateLife.advice(certificate: $0, at: .now) }
            },
            say: Self.say
        )
        if let warning = options.broker.warning { Self.say(warning) }
        let leaving = Task { [numbers = signals.numbers] in
            for await number in numbers { agent.leave(number == SIGINT ? "interrupted" : "stopped") }
        }
        defer { leaving.cancel() }
        do { try await agent.run() } catch { throw ExitMessage(error) }
        withExtendedLifetime(signals) {}
        place.keep()
    }

    @Sendable private static func say(_ text: String) { StandardError.write("reachability: \(text)") }
    #else
    func run() throws(ExitMessage) {
        throw ExitMessage("this build has no fleet: build it with libmosquitto and the trait Fleet", .unavailable)
    }
    #endif
}
