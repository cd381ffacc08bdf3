import NetworkReachability

extension NetworkNamespace {
    /// The namespace `--netns` names, the current one without it.
    ///
    /// - Throws: ``ExitMessage`` when the text can be no name of `ip netns`.
    init(argument name: String?) throws(ExitMessage) {
        guard let name else {
            self = .current
            return
        }
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
            throw ExitMessage("\"\(name)\" is no name of a network namespace", .usage)
        }
        self = .named(name)
    }
}
