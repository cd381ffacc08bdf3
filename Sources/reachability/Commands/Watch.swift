import ArgumentParser
import Dispatch
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

    func run() throws {
        let targets = try options.makeTargets()
        // Everything is written here, and the command ends here, so that no line is cut.
        let queue = DispatchQueue(label: "reachability.output", target: .global())
        let ends = [SIGINT, SIGTERM].map { end(on: $0, after: queue) }
        StandardOutput.endWhenReaderLeaves()
        let (json, withFlags) = (options.json, flags)
        let interest: NetworkReachabilityInterest = paths ? .way : flags ? .flags : .status
        let tokens = targets.map { name, manager in
            manager.addPathListener(for: interest, onQueue: queue) { path in
                let line = PathLine(target: name, path: path)
                let time = Timestamp()
                StandardOutput.write(json ? line.json(at: time) : line.text(at: time, withFlags: withFlags))
            }
        }
        withExtendedLifetime((targets, ends, tokens)) { dispatchMain() }
    }

    /// Ends the command on a signal once `output` has written its line, or soon when its reader takes none.
    private func end(on signal: CInt, after output: DispatchQueue) -> any DispatchSourceSignal {
        Glibc.signal(signal, SIG_IGN)
        let queue = DispatchQueue(label: "reachability.signal", target: .global())
        let source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
        source.setEventHandler {
            output.async { Glibc.exit(0) }
            queue.asyncAfter(deadline: .now() + .milliseconds(500)) { Glibc.exit(0) }
        }
        source.activate()
        return source
    }
}
