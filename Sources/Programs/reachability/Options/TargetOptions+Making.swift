import CommandLineSupport

extension TargetOptions {
    /// The same for a command that declares its options itself.
    init(hosts: [String], namespaceOptions: NamespaceOptions, mark: FirewallMark?, verbose: Bool) {
        self.init()
        self.hosts = hosts
        self.namespaceOptions = namespaceOptions
        self.way = .any
        self.mark = mark
        self.json = false
        self.verbose = verbose
        self.noFilter = false
    }
}
