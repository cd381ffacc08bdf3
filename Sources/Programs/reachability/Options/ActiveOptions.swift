import ArgumentParser
import CommandLineSupport

/// What `watch --check` and `wait --works` pass on to the check. Hidden for want of lines: a screen has 24.
struct ActiveOptions: ParsableArguments {
    @Option(
        name: .customLong("anchor"),
        help: ArgumentHelp(
            "A URL of yours that proves the internet; repeatable.",
            valueName: "url",
            visibility: .hidden
        )
    )
    var anchors: [String] = []

    @Option(
        name: .customLong("resolve"),
        help: ArgumentHelp("NAME=ADDRESS: never ask DNS for it; repeatable.", valueName: "pair", visibility: .hidden)
    )
    var resolutions: [String] = []

    var isEmpty: Bool { anchors.isEmpty && resolutions.isEmpty }
}

extension CheckLine {
    mutating func add(_ options: ActiveOptions, servers: [String]) {
        for url in options.anchors { add("--anchor", url) }
        for pair in options.resolutions { add("--resolve", pair) }
        for server in servers { add("--dns", server) }
    }
}
