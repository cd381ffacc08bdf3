import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSupport
import Netlink
import NetworkDiagnostics
import NetworkReachability

/// `reachability record`: watches, and records everything that a status depends on.
struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Watch, and record everything into a file.",
        usage: "reachability record [<options>] <file> [<host> ...]",
        discussion: """
            Examples: reachability record trouble.nlrec
                      reachability record --redact --quiet trouble.nlrec example.org
            Exit status: 0 done, 64 usage, 73 cannot be made, 74 cannot be written, 77 no
            permission.

            Also takes --netns, --mark, --json, --verbose as watch does.
            """
    )

    @Argument(help: "A new file: NAME.nlrec or .pcapng, or a path with a slash.")
    var file: String

    @OptionGroup(visibility: .hidden) var options: TargetOptions

    @Flag(help: "Also print changes of the flags.")
    var flags = false

    @Flag(help: "Also print changes of interface, gateway and source.")
    var paths = false

    @Flag(name: .shortAndLong, help: "Print nothing.")
    var quiet = false

    @Flag(help: "Record other addresses and names than the real ones.")
    var redact = false

    @Flag(help: "Replace a file that is there.")
    var force = false

    @Option(help: ArgumentHelp("End before the file is larger.", valueName: "size"))
    var limit = SizeArgument(argument: "64MB")

    func run() throws {
        try checkFile()
        let limit = try self.limit.bytes
        let output = WatchOutput(json: options.json, flags: flags, paths: paths)
        var signals = WatchSignals(reloads: true)
        // Targets are checked before the file is created.
        _ = try options.makeTargets()
        let session = try RecordSession(file, options, limit: limit, redacts: redact, replaces: force)
        let printer = quiet ? nil : RecordPrinter(output, namespace: options.netns)
        let tokens = try session.begin(output.interest) { host, path, moment in
            printer?.write(host, path, at: moment)
        }
        signals.waitForEnd {
            session.report()
        } reload: {
            // The terminal has gone.
            RecordSession.end()
        }
        try session.finish(tokens)
        try printer?.finish()
    }

    /// Refuses a host as the first argument, because hosts are the first arguments of all other subcommands.
    private func checkFile() throws(ExitMessage) {
        if file.hasSuffix(".nlrec") || file.hasSuffix(".pcapng") || file.contains("/") { return }
        let hosts = ([file] + options.hosts).map { " \($0.printable)" }.joined()
        throw ExitMessage(
            "\"\(file.printable)\" stands where the file to record into does: did you mean: reachability record trouble.nlrec"
                + "\(hosts)? A file that does not end in .nlrec is written with a slash: ./\(file.printable)",
            .usage
        )
    }
}
