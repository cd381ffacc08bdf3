import CommandLineSupport

extension TargetOptions {
    /// The same for a command that declares its options itself.
    ///
    /// Do not move it into the file of `TargetOptions`: there, with Swift 6.3, `run` and `retry` end with ArgumentParser's "Can't read a
    /// value from a parsable argument definition".
    init(hosts: [String], namespaceOptions: NamespaceOptions, mark: FirewallMark?, verbose: Bool) {
        self.init()
        self.hosts = hosts
        self.namespaceOptions = namespaceOptions
        self.egress = .any
        self.mark = mark
        self.json = false
        self.verbose = verbose
        self.noFilter = false
    }
}
