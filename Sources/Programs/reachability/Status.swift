import ArgumentParser
import CommandLineSupport
import LinuxSupport
import NetworkReachability

/// `reachability status`: prints the current state.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print the current state.",
        usage: "reachability status [<host> ...] [<options>]",
        discussion: """
            Examples: reachability status example.org && git pull
                      reachability status --json --netns blue 192.0.2.1
            Exit status: 0 reachable, 1 not reachable, 2 unknown, 64 usage error, 65
            invalid line, 66 cannot read file, 74 output error, 77 no permission. With
            several hosts, 1 if at least one is not reachable, otherwise 2 if at least one
            is unknown.
            """
    )

    @OptionGroup var options: TargetOptions

    @Flag(help: "Query the current and every named network namespace.")
    var allNetns = false

    @Option(help: "Read hosts from a file, one per line; - is stdin.", completion: .file())
    var file: String?

    func validate() throws {
        if allNetns, options.netns != nil { throw ValidationError("--all-netns and --netns exclude each other.") }
    }

    func run() throws {
        var options = options
        if let file { options.hosts += try hosts(in: file) }
        var places = try options.makeTargets().map { Place(target: $0, namespace: options.netns) }
        if allNetns {
            for entry in NetworkNamespaces().current { places += try self.places(options, in: entry) }
            NamespaceWatcher.reportOthers()
        }
        let lines = Self.lines(of: places)
        for line in lines {
            StandardOutput.write(
                options.json
                    ? line.json(at: Timestamp())
                    : line.text(at: Timestamp(), withFlags: false, withNamespace: allNetns, withFamilies: true)
            )
        }
        let statuses = lines.map(\.path.status)
        if statuses.contains(.notReachable) { throw ExitCode(1) }
        if statuses.contains(.unknown) { throw ExitCode(2) }
    }

    /// Returns the hosts of a file. A line that is not a host is an error, because the remaining hosts alone would decide the exit status.
    private func hosts(in path: String) throws -> [String] {
        let file = try TargetFile(path: path)
        let settings = try options.makeOptions()
        return try file.readAll("hosts") { host throws(NetworkReachabilityError) in
            _ = try NetworkReachabilityManager(host: host, options: settings)
        }
    }

    /// A target, and the namespace to print.
    private struct Place {
        let target: TargetOptions.Target
        let namespace: String?
    }

    private func places(_ options: TargetOptions, in entry: NetworkNamespaces.Entry) throws -> [Place] {
        do throws(NetworkReachabilityError) {
            return try options.makeTargets(in: entry.namespace).map { Place(target: $0, namespace: entry.name) }
        } catch {
            if case .capabilityRequired = error { throw error }
            // The namespace was deleted meanwhile.
            StandardError.report("\(error)")
            return []
        }
    }

    /// Returns the lines. All names are resolved at the same time, so that a silent name server causes only one delay.
    private static func lines(of places: [Place]) -> [PathLine] {
        if places.count > 1 {
            for place in places { _ = place.target.manager.path(waitingForName: .zero) }
        }
        let end = ContinuousClock.now + NetworkReachabilityOptions().nameResolutionWait
        return places.map { place in
            let path = place.target.manager.path(waitingForName: end - ContinuousClock.now)
            return PathLine(target: place.target.name, namespace: place.namespace, path: path)
        }
    }
}
