import CommandLineSupport
import NetworkReachability

/// `watch --file`: the hosts of a file, read again when told to.
struct FileWatcher {
    private let file: TargetFile
    /// Hosts that are watched whatever the file says.
    private let others: [String]
    private let isStrict: Bool
    private let monitor: NetworkReachabilityMonitor

    /// Reads the file and watches what is in it.
    init(_ options: TargetOptions, file: TargetFile, isStrict: Bool) throws {
        self.file = file
        self.isStrict = isStrict
        others = options.hosts
        do {
            monitor = try NetworkReachabilityMonitor(options: try options.makeOptions())
            for host in others { try monitor.insert(host) }
        } catch let error as NetworkReachabilityError {
            throw ExitMessage(error)
        }
        try load()
    }

    /// Prints each host's state, and its changes.
    func start(_ output: WatchOutput, policy: SettlePolicy, namespace: String?) -> NetworkReachabilityToken {
        // Called directly: a reader that is slow is told the latest when it reads again, not everything in between.
        monitor.addListener(for: output.interest, settle: policy, onQueue: nil) { change in
            output.write(PathLine(target: change.host, namespace: namespace, path: change.path))
        }
    }

    /// Reads the file again; what cannot be used leaves everything as it is.
    func reload() {
        if file.isStandardInput {
            return StandardError.write("reachability: standard input cannot be read again")
        }
        do {
            try load()
        } catch {
            StandardError.write("reachability: \(error.text)")
        }
    }

    var statistics: MonitorStatistics { monitor.statistics }

    private func load() throws(ExitMessage) {
        let (hosts, bad) = try file.read { host throws(NetworkReachabilityError) in try monitor.check(host) }
        if isStrict, let first = bad.first {
            for line in bad.dropLast() { StandardError.write("reachability: \(line)") }
            throw ExitMessage("\(bad.last ?? first)", .dataError)
        }
        for line in bad { StandardError.write("reachability: \(line)") }
        if others.isEmpty, hosts.isEmpty {
            StandardError.write("reachability: watching 0 hosts: \(file.name) has none")
        }
        do {
            try monitor.setHosts(others + hosts)
        } catch {
            throw ExitMessage(error)
        }
    }
}
