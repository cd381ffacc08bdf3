package import ArgumentParser
import LinuxSupport
package import NetworkReachability

/// Where it is asked.
package struct NamespaceOptions: ParsableArguments {
    @Option(
        name: .customLong("netns"),
        help: ArgumentHelp("The network namespace to ask in: name, path or PID.", valueName: "netns"),
        completion: .custom { _, _, _ in NetworkNamespaces().current.map(\.name) }
    )
    package var name: String?

    package init() {}

    /// The namespace that is meant, the current one when none is named: a name of `ip netns`, which comes first, the number of a
    /// process, or a path.
    ///
    /// - Throws: ``ExitMessage`` when the text can be none of them.
    package var namespace: NetworkNamespace {
        get throws(ExitMessage) {
            guard let name else { return .current }
            if name.contains("/") { return Self.process(name).map { .process($0) } ?? .path(name) }
            guard !name.isEmpty, name != ".", name != ".." else {
                throw ExitMessage("\"\(name.printable)\" is no name, path or process of a network namespace", .usage)
            }
            if let number = Self.number(name), !NetworkNamespaces().current.contains(where: { $0.name == name }) {
                return .process(number)
            }
            return .named(name)
        }
    }

    /// The process whose namespace a path is; a process is let go of when it ends, a path is not.
    private static func process(_ path: String) -> Int32? {
        let parts = path.split(at: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "proc", parts[3] == "ns", parts[4] == "net" else {
            return nil
        }
        return number(String(parts[2]))
    }

    private static func number(_ text: String) -> Int32? {
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = Int32(text) else {
            return nil
        }
        return number > 0 ? number : nil
    }
}
