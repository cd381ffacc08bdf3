public import NetworkReachability
public import NetworkReachabilityTesting

/// Managers of a fake kernel. Each has a separate monitor and sends no queries to the system.
/// `NetworkReachabilityOptions.networkNamespace` has no effect. Without a clock, the kernel's clock is used, which
/// determines when routes expire.
extension NetworkReachabilityManager {
    /// Creates a manager of the network at large.
    public convenience init(
        kernel: FakeKernel,
        clock: ManualClock? = nil,
        resolver: FakeResolver = FakeResolver(),
        options: NetworkReachabilityOptions = NetworkReachabilityOptions()
    ) throws(NetworkReachabilityError) {
        self.init(try Target(options: options), kernel: kernel, clock ?? kernel.clock, resolver, options)
    }

    /// Creates a manager of a host, given by name or address.
    public convenience init(
        host: String,
        kernel: FakeKernel,
        clock: ManualClock? = nil,
        resolver: FakeResolver = FakeResolver(),
        options: NetworkReachabilityOptions = NetworkReachabilityOptions()
    ) throws(NetworkReachabilityError) {
        self.init(try Target(host: host, options: options), kernel: kernel, clock ?? kernel.clock, resolver, options)
    }

    /// Creates a manager of an address.
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
