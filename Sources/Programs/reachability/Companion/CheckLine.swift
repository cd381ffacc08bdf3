import CommandLineSupport

/// What `reachability-check` is to be given, by the subcommands that go on with a check.
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
