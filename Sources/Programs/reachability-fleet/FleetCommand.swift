import ArgumentParser
import CommandLineSupport
import Dispatch
import Glibc
import LinuxSupport

/// `reachability fleet`, a program of its own: the only one that is linked with libmosquitto, and only where the package is built with
/// the trait Fleet. `reachability` becomes this program.
@main
struct FleetCommand: ParsableCommand {
    static let configuration = FleetGroup.configuration(
        name: "reachability fleet",
        subcommands: [
            Agent.self, HubCommand.self, Devices.self, Incidents.self, Forget.self, Enroll.self, Authority.self,
        ]
    )

    static func main() {
        CommandProcess.begin()
        // Not on the global queues, which never sleep.
        Task(executorPreference: TaskQueue(label: "reachability.fleet")) {
            do {
                try await CommandProcess.run(Self.self)
            } catch {
                CommandProcess.end(Self.self, error)
            }
            Glibc.exit(0)
        }
        dispatchMain()
    }
}
