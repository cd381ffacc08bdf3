import LinuxPrimitives
package import NetworkReachability

extension RecordingHeader {
    /// What a recording with these options is of, beginning now.
    ///
    /// - Parameters:
    ///   - hosts: as they were given; none is the network at large.
    ///   - namespace: the name of the network namespace; nil for the current one.
    ///   - version: that of the command.
    package init(hosts: [String], namespace: String?, options: NetworkReachabilityOptions, version: String) {
        let release = TextFile.read("/proc/sys/kernel/osrelease") ?? ""
        self.init(
            version: version,
            kernel: String(release.prefix { !$0.isNewline }),
            hosts: hosts,
            namespace: namespace,
            mark: options.firewallMark,
            filtersRoutes: options.filtersRouteMessages,
            addressesAtLarge: options.addressesAtLarge.map(\.description),
            nameRefreshInterval: options.nameRefreshInterval,
            start: .now
        )
    }

    /// The options that were recorded with.
    package var options: NetworkReachabilityOptions {
        var options = NetworkReachabilityOptions()
        options.firewallMark = mark
        options.filtersRouteMessages = filtersRoutes
        options.addressesAtLarge = addressesAtLarge.compactMap { IPAddress($0) }
        options.nameRefreshInterval = nameRefreshInterval
        return options
    }
}
