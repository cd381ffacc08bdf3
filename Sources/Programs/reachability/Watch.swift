import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSupport
import NetworkReachability

/// `reachability watch`: prints the current state and then every change.
struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the state, then each change, until interrupted.",
        usage: "reachability watch [<host> ...] [<options>]",
        discussion: """
            Examples: reachability watch --settle 2s example.org 2001:db8::1
                      reachability watch --json --file hosts.txt
            Exit status: 0 ended, 64 usage error, 65 invalid line, 66 cannot read file, 74
            output error, 77 no permission.
            """
    )

    @OptionGroup var options: TargetOptions

    @Flag(help: "Also print changes of the flags.")
    var flags = false

    @Flag(help: "Also print changes of interface, gateway and source.")
    var paths = false

    @Option(duration: "Print only states that last this long: 500ms, 2s, 1m.")
    var settle: DurationArgument?

    @Flag(help: "Watch the current and every named network namespace.")
    var allNetns = false

    @Option(help: "Read hosts from a file; - is stdin. SIGHUP reads it again.", completion: .file())
    var file: String?

    @Flag(help: "Refuse a file with a line that is not a host.")
    var strict = false

    // Hidden for space.
    @Flag(help: .rare("Print verdicts of active checks, which send probes."))
    var check = false

    @OptionGroup(visibility: .hidden) var active: ActiveOptions

    @Option(
        name: .customLong("dns"),
        help: .rare("The DNS server of --check; repeatable.", "address")
    )
    var servers: [String] = []

    func validate() throws {
        if check, file != nil || allNetns || flags || paths || settle != nil {
            throw ValidationError("--check excludes --file, --all-netns, --flags, --paths and --settle.")
        }
        if !check, !active.isEmpty || !servers.isEmpty {
            throw ValidationError("--anchor, --resolve and --dns need --check.")
        }
        if strict, file == nil { throw ValidationError("--strict needs --file.") }
        if allNetns, file != nil { throw ValidationError("--all-netns and --file exclude each other.") }
        if allNetns, options.netns != nil { throw ValidationError("--all-netns and --netns exclude each other.") }
    }

    func run() throws {
        if check { try becomeCheck() }
        let policy: SettlePolicy = try settle.map { .settled(for: try $0.value) } ?? .immediate
        // The file is read before signals are blocked, so that a user who types hosts can interrupt the command.
        let file = try self.file.map { path throws(ExitMessage) in try TargetFile(path: path) }
        var signals = Signals(reloads: file != nil)
        let output = WatchOutput(json: options.json, flags: flags, paths: paths, withNamespace: allNetns)
        if let file { return try watch(file, output, policy, &signals) }
        let targets = try options.makeTargets()
        let watcher = allNetns ? try NamespaceWatcher(options, output: output, policy: policy) : nil
        StandardOutput.exitWhenReaderCloses()
        if let watcher {
            Task { await watcher.run(targets) }
            signals.waitForEnd {
                for target in targets.prefix(1) { StandardError.report("\(target.manager.statistics)") }
            }
            return
        }
        let namespace = options.netns
        let tokens = targets.map { name, manager in
            // Called directly, so that a slow reader gets the latest path and not the paths in between.
            manager.addPathListener(for: output.interest, settle: policy, onQueue: nil) { path in
                output.write(PathLine(target: name, namespace: namespace, path: path))
            }
        }
        // All targets are in one namespace and therefore share one monitor.
        signals.waitForEnd {
            guard let manager = targets.first?.manager else { return }
            StandardError.report("\(manager.statistics)")
        }
        // Each line is written by one system call, so there is no buffer to flush.
        withExtendedLifetime((targets, tokens)) {}
    }

    private func becomeCheck() throws(ExitMessage) -> Never {
        var line = CheckLine(options.hosts, options.namespaceOptions, json: options.json)
        line.add("--mark", options.mark.map { "\($0.value)" })
        line.add("--interface", options.egress.interface)
        line.add("--family", options.egress.family.map { $0 == .ipv4 ? "4" : "6" })
        line.add(active, servers: servers)
        try CompanionProgram.tools.become(["verdicts"] + line.words)
    }

    private func watch(
        _ file: TargetFile,
        _ output: WatchOutput,
        _ policy: SettlePolicy,
        _ signals: inout Signals
    ) throws {
        let watcher = try FileWatcher(options, file: file, isStrict: strict)
        StandardOutput.exitWhenReaderCloses()
        let token = watcher.start(output, policy: policy, namespace: options.netns)
        signals.waitForEnd {
            StandardError.report("\(watcher.statistics)")
        } reload: {
            watcher.reload()
        }
        withExtendedLifetime(token) {}
    }
}

/// The output format of `watch`, and the kinds of changes that it prints.
struct WatchOutput: Sendable {
    let json: Bool
    let withFlags: Bool
    let withNamespace: Bool
    let interest: NetworkReachabilityInterest

    /// - Parameters:
    ///   - flags: Whether changes of the flags are printed.
    ///   - paths: Whether changes of the interface, gateway and source are printed.
    init(json: Bool, flags: Bool, paths: Bool, withNamespace: Bool = false) {
        self.json = json
        withFlags = flags
        self.withNamespace = withNamespace
        // The reason is included, so that the last line has the current one.
        var interest: NetworkReachabilityInterest = [.status, .reason]
        if flags { interest.insert(.flags) }
        if paths { interest.insert(.egress) }
        self.interest = interest
    }

    func write(_ line: PathLine) {
        StandardOutput.write(text(line, at: Timestamp()))
    }

    /// Returns the line without a newline.
    func text(_ line: PathLine, at time: @autoclosure () -> Timestamp) -> [UInt8] {
        json
            ? line.json(at: time())
            : line.text(at: time(), withFlags: withFlags, withNamespace: withNamespace)
    }
}

/// `watch --file`: watches the hosts of a file. SIGHUP makes it read the file again.
struct FileWatcher {
    private let file: TargetFile
    /// The hosts of the command line, which are watched in addition to those of the file.
    private let others: [String]
    private let isStrict: Bool
    private let monitor: NetworkReachabilityMonitor

    /// Reads the file and watches its hosts.
    init(_ options: TargetOptions, file: TargetFile, isStrict: Bool) throws {
        self.file = file
        self.isStrict = isStrict
        others = options.hosts
        monitor = try NetworkReachabilityMonitor(options: try options.makeOptions())
        for host in others { try monitor.insert(host) }
        try load()
    }

    /// Prints the state of each host, and then its changes, until the token is released.
    func start(_ output: WatchOutput, policy: SettlePolicy, namespace: String?) -> NetworkReachabilityToken {
        // Called directly, so that a slow reader gets the latest path and not the paths in between.
        monitor.addListener(for: output.interest, settle: policy, onQueue: nil) { change in
            output.write(PathLine(target: change.host, namespace: namespace, path: change.path))
        }
    }

    /// Reads the file again. If the file cannot be used, the hosts stay the same.
    func reload() {
        if file.file.isStandardInput {
            return StandardError.report("cannot read standard input again")
        }
        do {
            try load()
        } catch {
            StandardError.report("\(error.text)")
        }
    }

    var statistics: MonitorStatistics { monitor.statistics }

    private func load() throws(ExitMessage) {
        let (hosts, bad) = try file.read { host throws(NetworkReachabilityError) in try monitor.check(host) }
        if isStrict { try TargetFile.refuse(bad) }
        for line in bad { StandardError.report("\(line)") }
        if others.isEmpty, hosts.isEmpty {
            StandardError.report("\(file.file.name) has no hosts; watching 0 hosts")
        }
        do {
            try monitor.setHosts(others + hosts)
        } catch {
            throw error.exitMessage
        }
    }
}
