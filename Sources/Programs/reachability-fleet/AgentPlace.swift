#if Fleet
import CommandLineSupport
import LinuxPrimitives
import MessageBroker
import ReachabilityFleet
import ReachabilityFleetAgent

/// Where an agent keeps its cursor, which one agent has at a time.
struct AgentPlace: ~Copyable {
    let file: CursorFile?
    private let lock: LockFile?

    init(_ arguments: FleetAgentArguments, _ place: FleetPlace) throws(ExitMessage) {
        guard arguments.state != "none" else {
            file = nil
            lock = nil
            return
        }
        // Neither name has a comma, so that no two places have one file.
        let named = arguments.state ?? StateDirectory.make().map { "\($0)/agent-\(place.site),\(place.device)" }
        guard let path = named else {
            throw ExitMessage("there is no home directory for the state: name its file with --state, or none", .usage)
        }
        do {
            lock = try LockFile(path + ".lock")
        } catch .tryAgain {
            throw ExitMessage("another agent uses \(path.printable): give each its own --state", .temporaryFailure)
        } catch {
            throw ExitMessage("cannot use \(path.printable) for the state: \(error)", .cantCreate)
        }
        file = CursorFile(path)
    }

    /// The place is kept until here.
    consuming func keep() {}
}

extension AgentOptions {
    init(_ arguments: FleetAgentArguments) throws {
        guard let place = FleetPlace(site: arguments.site, device: arguments.device) else {
            throw ExitMessage("--site and --device are names of \(BrokerArguments.nameRule)", .usage)
        }
        let (broker, tls) = try BrokerArguments.read(
            arguments.broker,
            authority: arguments.authority,
            certificate: arguments.certificate,
            key: arguments.key
        )
        self.init(broker: broker, tls: tls, place: place)
        jitter = try arguments.jitter.value
        refresh = try arguments.refresh.value
        willDelay = try arguments.willDelay.value
        guard refresh >= .seconds(1), refresh <= .seconds(86_400) else {
            throw ExitMessage("--refresh is from 1s to 24h", .usage)
        }
        for word in arguments.allow {
            guard let permission = Permission(rawValue: word) else {
                throw ExitMessage("--allow knows check and report, not \"\(word.printable)\"", .usage)
            }
            permissions.insert(permission)
        }
    }
}
#endif
