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
            Exit status: 0 reachable, 1 not reachable, 2 unknown, 64 usage, 65 bad line, 66
            no file, 74 output failed, 77 no permission. Of several hosts, one that is not
            reachable decides, then one that is unknown.
            """
    )

    @OptionGroup var options: TargetOptions

    @Flag(help: "Ask in the current and every named network namespace.")
    var allNetns = false

    @Option(help: "Hosts, one a line; - is standard input.", completion: .file())
    var file: String?

    func validate() throws {
        if allNetns, options.netns != nil { throw ValidationError("--all-netns and --netns exclude each other.") }
    }

    func run() throws {
        var options = options
        if let file { options.hosts += try hosts(in: file) }
        var lines = try options.makeTargets().map { target in
            PathLine(target: target.name, namespace: options.netns, path: target.manager.path)
        }
        if allNetns {
            for entry in NetworkNamespaces().current { lines += try self.lines(options, in: entry) }
        }
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

    /// The hosts of a file. A line that is none ends the command: what is left would decide alone.
    private func hosts(in path: String) throws -> [String] {
        let file = try TargetFile(path: path)
        let settings = try options.makeOptions()
        let (hosts, bad) = try file.read { host throws(NetworkReachabilityError) in
            _ = try NetworkReachabilityManager(host: host, options: settings)
        }
        if let last = bad.last {
            for line in bad.dropLast() { StandardError.write("reachability: \(line)") }
            throw ExitMessage("\(last)", .dataError)
        }
        if hosts.isEmpty { throw ExitMessage("\(file.name) has no hosts", .dataError) }
        return hosts
    }

    private func lines(_ options: TargetOptions, in entry: NetworkNamespaces.Entry) throws(ExitMessage) -> [PathLine] {
        do throws(NetworkReachabilityError) {
            return try options.makeTargets(in: entry.namespace).map { target in
                PathLine(target: target.name, namespace: entry.name, path: target.manager.path)
            }
        } catch {
            if case .capabilityRequired = error { throw ExitMessage(error) }
            // It has just gone.
            StandardError.write("reachability: \(error)")
            return []
        }
    }
}
