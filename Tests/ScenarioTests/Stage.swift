import Glibc
import NetworkLab
import TestSupport

/// The networks that run a scenario's scripts. Each command begins with its namespace, `C`lient, `R`outer or
/// `S`erver:
///
///     C link set c0 down              an ip command; neighbours of the same namespace share one `ip -batch`
///     C -6 rule add pref 100 ...      the same with a family
///     C 100x link set c0 down, ...    ip commands, repeated
///     C bridge fdb show              a bridge command
///     C sysctl net.ipv4.ip_forward=1
///     C tun w0 519                    a modem link of that hardware type to the router's w0p
///     C carrier w0 off                its cable
///     C reader w0 off                 its driver
///     C none nexthop list             waits until that ip command shows nothing
///     C until DOWN link show c0       waits until that ip command shows the word
///     R radvd 60                      router advertisements with that lifetime; `R radvd TERM` ends them
///
/// `$C`, `$R` and `$S` stand for the namespaces' paths.
final class Stage {
    let lab: Topology
    private var cables: [String: TunCable] = [:]
    private var radvd: LabProcess?
    private let radvdMarker = "/tmp/scenario-radvd-\(getpid())-\(UInt32.random(in: 0 ... .max))"

    init(_ scenario: Scenario) throws {
        lab = try Topology(scenario.uplinks)
        try play(scenario.setup)
    }

    deinit {
        lab.close()
        unlink(radvdMarker)
    }

    func play(_ script: String) throws {
        var batch: (namespace: LabNamespace, commands: [String])?
        func flush() throws {
            try batch?.namespace.ip(batch?.commands ?? [])
            batch = nil
        }
        for line in script.split(whereSeparator: { $0 == ";" || $0 == "\n" }) {
            let words = line.split(separator: " ").map(String.init)
            guard let first = words.first else { continue }
            let namespace = try namespace(first)
            guard let commands = Stage.ipCommands(Array(words.dropFirst())) else {
                try flush()
                try perform(Array(words.dropFirst()), in: namespace)
                continue
            }
            if batch?.namespace !== namespace {
                try flush()
                batch = (namespace, [])
            }
            batch?.commands += commands.map(resolvingPaths)
        }
        try flush()
    }

    private func namespace(_ letter: String) throws -> LabNamespace {
        switch letter {
        case "C": lab.client
        case "R": lab.router
        case "S": lab.server
        default: throw LabError("no namespace \(letter)")
        }
    }

    private func resolvingPaths(_ command: String) -> String {
        command.split(separator: " ")
            .map { ["$C": lab.client.path, "$R": lab.router.path, "$S": lab.server.path][$0] ?? String($0) }
            .joined(separator: " ")
    }

    /// The `ip` commands of a line, or nil for another command.
    private static func ipCommands(_ words: [String]) -> [String]? {
        let others = ["bridge", "sysctl", "tun", "carrier", "reader", "none", "until", "radvd"]
        guard let verb = words.first, !others.contains(verb) else {
            return nil
        }
        guard verb.hasSuffix("x"), let count = Int(verb.dropLast()) else { return [words.joined(separator: " ")] }
        let commands = words.dropFirst().joined(separator: " ").split(separator: ",").map(String.init)
        return repeatElement(commands, count: count).flatMap(\.self)
    }

    private func perform(_ words: [String], in namespace: LabNamespace) throws {
        switch (words[0], words.count) {
        case ("sysctl", 2):
            let parts = words[1].split(separator: "=").map(String.init)
            try namespace.sysctl(parts[0], parts[1])
        case ("bridge", _):
            let result = try namespace.run("bridge", words.dropFirst().map(\.self))
            guard result.status == 0 else { throw LabError(result.errors) }
        case ("tun", 3):
            let kind = CInt(words[2]).flatMap(TunCable.Kind.init) ?? .none
            cables[words[1]] = try TunCable(words[1], kind: kind, from: namespace, to: lab.router, as: words[1] + "p")
        case ("carrier", 3):
            try cables[words[1]]?.setCarrier(words[2] == "on")
        case ("reader", 3):
            if words[2] == "on" {
                try cables[words[1]]?.attach()
            } else {
                cables[words[1]]?.detach()
            }
        case ("none", _):
            try wait(for: words.dropFirst(), in: namespace) { $0.isEmpty }
        case ("until", 3...):
            try wait(for: words.dropFirst(2), in: namespace) { $0.contains(words[1]) }
        case ("radvd", 2):
            try advertise(words[1], in: namespace)
        default:
            throw LabError("no such command: \(words)")
        }
    }

    private func wait(
        for command: ArraySlice<String>,
        in namespace: LabNamespace,
        _ condition: (String) -> Bool
    ) throws {
        let happened = try Deadline(after: .seconds(30)).poll {
            condition(try namespace.run("ip", Array(command)).output)
        }
        guard happened else { throw LabError("waited in vain for \(command)") }
    }

    private func advertise(_ word: String, in namespace: LabNamespace) throws {
        guard let lifetime = Int(word) else {
            radvd?.signal(word == "KILL" ? SIGKILL : SIGTERM)
            _ = try radvd?.wait()
            radvd = nil
            return
        }
        let settings = """
            interface r0 {
                AdvSendAdvert on; MinRtrAdvInterval 3; MaxRtrAdvInterval 4; AdvDefaultLifetime \(lifetime);
                prefix fd01::/64 { AdvOnLink on; AdvAutonomous on; };
            };
            """
        radvd = try namespace.start(
            "/usr/sbin/radvd",
            ["-n", "-C", "/dev/stdin", "-p", radvdMarker, "-m", "stderr"],
            input: settings
        )
    }
}

/// A running `reachability watch --json` process and the lines it has written.
final class Watcher {
    let targets: [Target]
    let process: LabProcess
    private var parsed = 0
    private(set) var lines: [Target: [StatusLine]] = [:]

    init(_ targets: [Target], in namespace: LabNamespace) throws {
        self.targets = targets
        process = try namespace.start(Product.path, ["watch", "--json"] + targets.compactMap(\.host))
    }

    /// Reads and parses the lines that have been written since the last call.
    func read() throws {
        let bytes = process.drain()
        while let end = bytes[parsed...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = try StatusLine(parsing: String(decoding: bytes[parsed..<end], as: UTF8.self))
            parsed = end + 1
            guard let target = targets.first(where: { $0.host == line.target }) else {
                throw LabError("a line about a target that was not requested: \(line)")
            }
            lines[target, default: []].append(line)
        }
    }

    /// Reads the output of the watchers until the condition holds. Returns whether it held before the time limit.
    /// Blocks.
    static func read(
        _ watchers: [Watcher],
        within limit: Duration,
        until condition: () -> Bool = { false }
    ) throws -> Bool {
        let deadline = Deadline(after: limit)
        while true {
            for watcher in watchers {
                try watcher.read()
            }
            if condition() { return true }
            if deadline.hasPassed { return false }
            var events = watchers.map {
                pollfd(fd: $0.process.outputDescriptor.number, events: Int16(POLLIN), revents: 0)
            }
            _ = poll(&events, nfds_t(events.count), deadline.milliseconds)
            if events.contains(where: { $0.revents != 0 && $0.revents & Int16(POLLIN) == 0 }) {
                throw LabError("the watching process has closed its output")
            }
        }
    }
}

/// The `reachability` binary under test.
enum Product {
    /// The value of REACHABILITY_BINARY, or the binary in the directory of the running test bundle. With `none`, the
    /// tests only check packets.
    static let path: String =
        if let chosen = getenv("REACHABILITY_BINARY") {
            String(cString: chosen)
        } else {
            BuiltProgram.path("reachability")
        }

    static var isMeasured: Bool { path != "none" }

    /// Runs the one-shot command for a target, and returns its line and its exit status.
    static func ask(_ target: Target, in namespace: LabNamespace) throws -> (line: StatusLine, status: CInt) {
        let result = try namespace.run(path, ["status", "--json"] + [target.host].compactMap(\.self))
        let lines = result.output.split(separator: "\n")
        guard lines.count == 1 else {
            throw LabError("\(lines.count) lines and status \(result.status): \(result.output) \(result.errors)")
        }
        return (try StatusLine(parsing: lines[0]), result.status)
    }
}
