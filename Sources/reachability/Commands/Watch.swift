import ArgumentParser
import Glibc
import NetworkReachability

/// `reachability watch`: the state now, then every change.
struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the state, then a line for each change, until interrupted.",
        discussion: """
            A line is printed when the status changes; more often with --flags or --paths. \
            Ends with status 0 on SIGINT, SIGTERM and when its reader goes away.
            """
    )

    @OptionGroup var options: TargetOptions

    @Flag(help: "Also print changes of the flags.")
    var flags = false

    @Flag(help: "Also print changes of interface, gateway and source.")
    var paths = false

    @Option(
        help: ArgumentHelp("Print a change only when it has held for so long: 500ms, 2s, 1m.", valueName: "duration")
    )
    var settle: DurationArgument?

    func run() throws {
        let policy: SettlePolicy = try settle.map { .settled(for: try $0.value) } ?? .immediate
        var signals = EndSignals()
        let targets = try options.makeTargets()
        StandardOutput.endWhenReaderLeaves()
        let (json, withFlags) = (options.json, flags)
        let interest: NetworkReachabilityInterest = paths ? .way : flags ? .flags : .status
        let tokens = targets.map { name, manager in
            // Called directly: a reader that is slow is told the latest when it reads again, not everything in between.
            manager.addPathListener(for: interest, settle: policy, onQueue: nil) { path in
                let line = PathLine(target: name, path: path)
                StandardOutput.write(
                    json ? line.json(at: Timestamp()) : line.text(at: Timestamp(), withFlags: withFlags)
                )
            }
        }
        signals.wait()
        // Lines are written whole, by one system call each, so nothing is left to flush.
        withExtendedLifetime((targets, tokens)) {}
    }
}
