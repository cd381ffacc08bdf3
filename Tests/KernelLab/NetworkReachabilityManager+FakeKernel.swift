public import NetworkReachability
public import NetworkReachabilityTesting

/// Managers of a fake kernel. Each has a monitor of its own and sends no queries to the system.
/// `NetworkReachabilityOptions.networkNamespace` has no effect. Without a clock, the time is that of the kernel, by which routes expire.
extension NetworkReachabilityManager {
    /// A manager of the general target.
    public convenience init(
        kernel: FakeKernel,
        clock: ManualClock? = nil,
        resolver: FakeResolver = FakeResolver(),
        options: NetworkReachabilityOptions = NetworkReachabilityOptions()
    ) throws(NetworkReachabilityError) {
        self.init(try Target(options: options), kernel: kernel, clock ?? kernel.clock, resolver, options)
    }

    /// A manager of a host, given by name or by address.
    public convenience init(
        host: String,
        kernel: FakeKernel,
        clock: ManualClock? = nil,
        resolver: FakeResolver = FakeResolver(),
        options: NetworkReachabilityOptions = NetworkReachabilityOptions()
    ) throws(NetworkReachabilityError) {
        self.init(try Target(host: host, options: options), kernel: kernel, clock ?? kernel.clock, resolver, options)
    }

    /// A manager of an address.
    public convenience init(
        address: IPAddress,
        kernel: FakeKernel,
        clock: ManualClock? = nil,
        resolver: FakeResolver = FakeResolver(),
        options: NetworkReachabilityOptions = NetworkReachabilityOptions()
    ) throws(NetworkReachabilityError) {
        self.init(
            try Target(address: address, options: options),
            kernel: kernel,
            clock ?? kernel.clock,
            resolver,
            options
        )
    }
}
