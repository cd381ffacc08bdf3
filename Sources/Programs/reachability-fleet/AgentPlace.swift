#if Fleet
import CommandLineSupport
import LinuxSupport
import MQTT
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
#endif
