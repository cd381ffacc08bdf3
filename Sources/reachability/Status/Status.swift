import ArgumentParser
import CommandLineSupport
import NetworkReachability

/// `reachability status`: the state now.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print the state once.",
        usage: "reachability status [<host> ...] [<options>]",
        discussion: """
            Examples: reachability status example.org && git pull
                      reachability status --json --netns blue 192.0.2.1
            Exit status: 0 reachable, 1 not reachable, 2 unknown, 64 usage, 74 output
            failed, 77 no permission. Of several hosts, one that is not reachable decides,
            then one that is unknown.
            """
    )

    @OptionGroup var options: TargetOptions

    func run() throws {
        let paths = try options.makeTargets().map { ($0.name, $0.manager.path) }
        for (name, path) in paths {
            let line = PathLine(target: name, namespace: options.netns, path: path)
            StandardOutput.write(
                options.json ? line.json(at: Timestamp()) : line.text(at: Timestamp(), withFlags: false)
            )
        }
        let statuses = paths.map(\.1.status)
        if statuses.contains(.notReachable) { throw ExitCode(1) }
        if statuses.contains(.unknown) { throw ExitCode(2) }
    }
}
