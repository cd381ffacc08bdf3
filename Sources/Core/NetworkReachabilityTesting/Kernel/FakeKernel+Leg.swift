extension FakeKernel {
    /// One way out of a route that has several.
    public struct Leg: Hashable, Sendable {
        let gateway: String?
        let link: String?

        /// - Parameters:
        ///   - gateway: the address of the router; nil for destinations on the link itself.
        ///   - link: the name of the link; nil for the one the router is on.
        public init(via gateway: String? = nil, on link: String? = nil) {
            self.gateway = gateway
            self.link = link
        }
    }
}
