import ArgumentParser
import CommandLineSupport
import NetworkReachability

/// Where it is asked.
struct NamespaceOptions: ParsableArguments {
    @Option(
        name: .customLong("netns"),
        help: ArgumentHelp("The network namespace to ask in, of `ip netns`.", valueName: "name"),
        completion: .custom { _, _, _ in NetworkNamespaces().current.map(\.name) }
    )
    var name: String?

    /// The namespace that is meant, the current one when none is named.
    ///
    /// - Throws: ``ExitMessage`` when the text can be no name of `ip netns`.
    var namespace: NetworkNamespace {
        get throws(ExitMessage) {
            guard let name else { return .current }
            guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
                throw ExitMessage("\"\(name)\" is no name of a network namespace", .usage)
            }
            return .named(name)
        }
    }
}
