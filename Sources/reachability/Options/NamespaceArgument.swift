import NetworkReachability

extension NetworkNamespace {
    /// The namespace that `--netns` names; nil is the current one.
    static func argument(_ name: String?) throws(ExitMessage) -> NetworkNamespace {
        guard let name else { return .current }
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
            throw ExitMessage("\"\(name)\" is no name of a network namespace", .usage)
        }
        return .named(name)
    }
}
