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

    @Flag(help: "Watch the current network namespace and every named one, as they come and go.")
    var allNetns = false

    func validate() throws {
        if allNetns, options.netns != nil { throw ValidationError("--all-netns and --netns exclude each other.") }
    }

    func run() throws {
        var signals = EndSignals()
        let interest: NetworkReachabilityInterest = paths ? .way : flags ? .flags : .status
        let output = WatchOutput(json: options.json, withFlags: flags, withNamespace: allNetns, interest: interest)
        let targets = try options.makeTargets()
        let watcher = allNetns ? try NamespaceWatcher(options, output: output) : nil
        StandardOutput.endWhenReaderLeaves()
        if let watcher {
            Task { await watcher.run(targets) }
            return signals.wait()
        }
        let namespace = options.netns
        let tokens = targets.map { name, manager in
            // Called directly: a reader that is slow is told the latest when it reads again, not everything in between.
            manager.addPathListener(for: interest, onQueue: nil) { path in
                output.write(PathLine(target: name, namespace: namespace, path: path))
            }
        }
        signals.wait()
        // Lines are written whole, by one system call each, so nothing is left to flush.
        withExtendedLifetime((targets, tokens)) {}
    }
}
