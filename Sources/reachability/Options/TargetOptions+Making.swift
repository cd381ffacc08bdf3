extension TargetOptions {
    /// The same for a command that declares its options itself.
    init(hosts: [String], netns: String?, mark: FirewallMark?, verbose: Bool) {
        self.init()
        self.hosts = hosts
        self.netns = netns
        self.mark = mark
        self.json = false
        self.verbose = verbose
        self.noFilter = false
    }
}
