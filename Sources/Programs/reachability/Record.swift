import ArgumentParser
import CommandLineSupport
import Dispatch
import Glibc
import LinuxSupport
import Netlink
import NetworkDiagnostics
import NetworkReachability

/// `reachability record`: watches, and records all data that a status depends on.
struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Watch, and record the network's state and events.",
        usage: "reachability record [<options>] <file> [<host> ...]",
        discussion: """
            Examples: reachability record trouble.nlrec
                      reachability record --redact --quiet trouble.nlrec example.org
            Exit status: 0 done, 64 usage error, 73 cannot create file, 74 cannot write, 77
            no permission.

            The command also takes --netns, --mark, --json and --verbose, as watch does.
            """
    )

    @Argument(help: "A new file: NAME.nlrec or .pcapng, or a path with a slash.")
    var file: String

    @OptionGroup(visibility: .hidden) var options: TargetOptions

    @OptionGroup var changes: ChangeOptions

    @Flag(name: .shortAndLong, help: "Print nothing.")
    var quiet = false

    @Flag(help: "Replace addresses and names in the recording.")
    var redact = false

    @Flag(help: "Replace an existing file.")
    var force = false

    @Option(help: ArgumentHelp("The maximum size of the file.", valueName: "size"))
    var limit = SizeArgument(argument: "64MB")

    func run() throws {
        try checkFile()
        let limit = try self.limit.bytes
        let output = WatchOutput(json: options.json, flags: changes.flags, paths: changes.paths)
        var signals = Signals(reloads: true)
        // An invalid target must not leave an empty file.
        _ = try options.makeTargets()
        let session = try RecordSession(file, options, limit: limit, redacts: redact, replaces: force)
        let printer = quiet ? nil : RecordPrinter(output, namespace: options.netns)
        let tokens = try session.begin(output.interest) { host, path, moment in
            printer?.write(host, path, at: moment)
        }
        signals.waitForEnd {
            session.report()
        } reload: {
            // SIGHUP: the terminal was closed.
            RecordSession.end()
        }
        try session.finish(tokens)
        try printer?.finish()
    }

    /// Refuses a host as the first argument. In all other subcommands the first argument is a host.
    private func checkFile() throws(ExitMessage) {
        if file.hasSuffix(".nlrec") || file.hasSuffix(".pcapng") || file.contains("/") { return }
        let hosts = ([file] + options.hosts).map { " \($0.printable)" }.joined()
        throw ExitMessage(
            "\"\(file.printable)\" is not the name of a recording; did you mean: reachability record trouble.nlrec"
                + "\(hosts)? Write a file that does not end in .nlrec or .pcapng with a slash: ./\(file.printable)",
            .usage
        )
    }
}

/// Prints the lines of a recording in progress. An error of standard output does not end the recording.
final class RecordPrinter: Sendable {
    private struct State {
        var hasEnded = false
        var failure: ExitMessage?
    }

    private let output: WatchOutput
    private let namespace: String?
    private let state: Locked<State> = Locked(State())

    init(_ output: WatchOutput, namespace: String?) {
        self.output = output
        self.namespace = namespace
    }

    func write(_ host: String?, _ path: NetworkPath, at moment: RecordedMoment) {
        if state.withLock({ $0.hasEnded }) { return }
        let line = output.text(PathLine(target: host, namespace: namespace, path: path), at: Timestamp(moment))
        do {
            try StandardStream.write(line + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
        } catch {
            let failure =
                error == .brokenPipe ? nil : ExitMessage("cannot write to standard output: \(error)", .ioError)
            if let failure { StandardError.report("\(failure.text); the recording continues") }
            state.withLock { $0 = State(hasEnded: true, failure: failure) }
        }
    }

    /// Throws the first error of standard output. A closed pipe is not an error.
    func finish() throws(ExitMessage) {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }
}

extension Timestamp {
    init(_ moment: RecordedMoment) {
        self.init(real: moment.real, monotonic: moment.monotonic)
    }
}

/// A recording in progress: the file, the recorder and the targets.
struct RecordSession {
    private let path: String
    private let file: RecordingFile
    private let recorder: Recorder
    private let targets: RecordedTargets
    private let limit: SizeLimit

    /// The maximum size of the file in bytes, and whether it was reached.
    private struct SizeLimit {
        let bytes: Int
        let wasReached: Locked<Bool> = Locked(false)
    }

    /// Creates the file and opens the sockets.
    init(
        _ path: String,
        _ options: TargetOptions,
        limit bytes: Int,
        redacts: Bool,
        replaces: Bool
    ) throws {
        let limit = SizeLimit(bytes: bytes)
        self.limit = limit
        self.path = path
        let settings = try options.makeOptions()
        let header = RecordingHeader(
            hosts: options.hosts,
            namespace: options.netns,
            options: settings,
            version: ReachabilityCommand.configuration.version
        )
        let redactor = redacts ? Redactor() : nil
        let least = Recorder.leastLimit(header, redactor: redactor)
        guard bytes >= least else {
            throw ExitMessage("--limit \(bytes) is too small for a recording; the minimum is \(least) bytes", .usage)
        }
        do throws(SystemError) {
            file = try RecordingFile(path, replacing: replaces) { Self.end() }
        } catch {
            let advice = error == .fileExists ? "; --force replaces it" : ""
            throw ExitMessage("cannot create \(path): \(error)\(advice)", .cantCreate)
        }
        recorder = Recorder(
            header,
            limit: bytes,
            redactor: redactor,
            reachedLimit: {
                limit.wasReached.withLock { $0 = true }
                Self.end()
            },
            write: { [file] in file.write($0) }
        )
        let live = try MonitorEnvironment(of: settings, tap: recorder)
        targets = try RecordedTargets(options.hosts, in: recorder.environment(live), options: settings)
    }

    /// Starts the recording, and adds a listener to all targets. `listener` is called on the monitor's queue.
    func begin(
        _ interest: NetworkReachabilityInterest,
        _ listener: @escaping @Sendable (String?, NetworkPath, RecordedMoment) -> Void
    ) throws -> [NetworkReachabilityToken] {
        var tokens: [NetworkReachabilityToken] = []
        recorder.begin(on: targets.monitor.queue) {
            tokens = targets.listen(for: interest) { [recorder] host, path in
                listener(host, path, recorder.moment())
            }
        }
        return tokens
    }

    /// Ends the main thread's wait for a signal.
    static func end() {
        kill(getpid(), SIGTERM)
    }

    /// Writes the statistics to standard error.
    func report() {
        StandardError.report("\(targets.monitor.statistics)")
    }

    /// Ends the recording and completes the file.
    ///
    /// - Parameter tokens: The result of ``begin(_:_:)``.
    /// - Throws: ``ExitMessage`` if a part of the file was not written.
    func finish(_ tokens: [NetworkReachabilityToken]) throws(ExitMessage) {
        // On the queue, so that the printed and the recorded events are the same.
        targets.monitor.queue.sync {
            recorder.finish()
            for token in tokens { token.cancel() }
        }
        do throws(SystemError) {
            try file.finish()
        } catch {
            let done = "the first \(file.size) bytes can be replayed"
            throw ExitMessage("cannot write \(path): \(error); \(done)", .ioError)
        }
        if limit.wasReached.withLock({ $0 }) {
            StandardError.report("\(path) has reached its limit of \(limit.bytes) bytes")
        }
    }
}
