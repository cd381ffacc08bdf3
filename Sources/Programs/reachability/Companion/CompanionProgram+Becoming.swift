import CommandLineSupport
import Glibc
import LinuxSupport

extension CompanionProgram {
    /// Becomes that program, which is beside this one or in `libexec/reachability`.
    ///
    /// - Throws: ``ExitMessage`` when it cannot be started; otherwise this does not return.
    ///
    /// C counterpart: `execv(3)`.
    func become(_ arguments: [String]) throws(ExitMessage) -> Never {
        let directory = Self.directory
        let places = [directory, "\(directory)/../libexec/reachability"].map { "\($0)/\(name)" }
        let path = places.first { access($0, X_OK) == 0 } ?? places[0]
        var pointers = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        _ = unsafe execv(path, &pointers)
        let cause = unsafe String(cString: strerror(errno))
        throw ExitMessage("cannot run \(path): \(cause): install it beside reachability", .unavailable)
    }

    /// Where this program lies.
    private static var directory: String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return path.split(at: "/").dropLast().map { "/" + $0 }.joined()
    }
}

/// What `reachability check` is to be given, by the subcommands that go on with a check.
struct CheckLine {
    private let targets: [String]
    private var options: [String] = []

    init(_ targets: [String], _ namespace: NamespaceOptions, json: Bool) {
        self.targets = targets
        add("--netns", namespace.name)
        if json { add("--json") }
    }

    mutating func add(_ option: String) { options.append(option) }

    mutating func add(_ option: String, _ value: String?) {
        if let value { options.append("\(option)=\(value)") }
    }

    /// Options, then targets, which may look like options no more.
    var words: [String] { targets.isEmpty ? options : options + ["--"] + targets }
}
