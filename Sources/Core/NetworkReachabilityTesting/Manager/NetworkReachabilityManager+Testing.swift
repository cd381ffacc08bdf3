public import NetworkReachability

/// Managers of a world that tests play. Each has a monitor of its own, and asks nothing real;
/// `NetworkReachabilityOptions.networkNamespace` does not matter.
extension NetworkReachabilityManager {
    /// A manager of the network at large.
    ///
    /// - Parameters:
    ///   - kernel: the network.
    ///   - clock: the time; nil for the kernel's own, which is what is wanted where routes expire.
    ///   - resolver: the name service.
    ///   - options: how to watch.
    /// - Throws: ``NetworkReachabilityError`` when no addresses are given that stand for the network at large.
    public convenience init(
        kernel: FakeKernel,
        clock: ManualClock? = nil,
        resolver: FakeResolver = FakeResolver(),
        options: NetworkReachabilityOptions = NetworkReachabilityOptions()
    ) throws(NetworkReachabilityError) {
        self.init(try Target(options: options), kernel, clock, resolver, options)
    }

    /// A manager of a host, given by name or by address literal.
    ///
    /// - Throws: ``NetworkReachabilityError`` when `host` is neither.
    public convenience init(
        host: String,
        kernel: FakeKernel,
        clock: ManualClock? = nil,
        resolver: FakeResolver = FakeResolver(),
        options: NetworkReachabilityOptions = NetworkReachabilityOptions()
    ) throws(NetworkReachabilityError) {
        self.init(try Target(host: host, options: options), kernel, clock, resolver, options)
    }

    /// A manager of an address.
    ///
    /// - Throws: ``NetworkReachabilityError`` when it is link-local IPv6 without a zone.
    public convenience init(
        address: IPAddress,
        kernel: FakeKernel,
        clock: ManualClock? = nil,
        resolver: FakeResolver = FakeResolver(),
        options: NetworkReachabilityOptions = NetworkReachabilityOptions()
    ) throws(NetworkReachabilityError) {
        self.init(try Target(address: address, options: options), kernel, clock, resolver, options)
    }

    private convenience init(
        _ target: Target,
        _ kernel: FakeKernel,
        _ clock: ManualClock?,
        _ resolver: FakeResolver,
        _ options: NetworkReachabilityOptions
    ) {
        let environment = MonitorEnvironment(kernel: kernel, clock: clock ?? kernel.clock, resolver: resolver)
        self.init(target, monitor: PathMonitor(environment: environment, logger: options.logger), options: options)
    }
}
