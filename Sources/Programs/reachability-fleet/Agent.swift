import ArgumentParser
import CommandLineSupport

#if Fleet
import Dispatch
import Glibc
import LinuxPrimitives
import MessageBroker
import Mosquitto
import NetworkReachability
import ReachabilityFleetAgent
import ReachabilityFleetAuthority
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
        let signals = LeaveSignals()
        let agent = FleetAgent(
            options,
            broker: MosquittoBroker(),
            log: ServiceLog(socket: arguments.socket ?? ServiceSocket.usual),
            file: place.file,
            advice: { [certificate = options.tls.certificate] in
                certificate.flatMap { CertificateLife.advice(certificate: $0, at: .now) }
            },
            say: Self.say
        )
        if !options.broker.isSecured {
            Self.say(
                "anybody on the way can read what is said with \(options.broker), and pretend to be the broker or the machine"
            )
        }
        signals.forward { agent.leave($0) }
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

#if Fleet
/// SIGINT and SIGTERM, which end an agent in order.
private struct LeaveSignals {
    private let sources: [(source: any DispatchSourceSignal, reason: String)]

    /// From now on none of them ends the program by itself.
    init() {
        let queue = DispatchQueue(label: "reachability.signals")
        sources = [(SIGINT, "interrupted"), (SIGTERM, "stopped")].map { number, reason in
            _ = signal(number, SIG_IGN)
            return (DispatchSource.makeSignalSource(signal: number, queue: queue), reason)
        }
    }

    func forward(_ leave: @escaping @Sendable (String) -> Void) {
        for (source, reason) in sources {
            source.setEventHandler { leave(reason) }
            source.activate()
        }
    }
}
#endif
