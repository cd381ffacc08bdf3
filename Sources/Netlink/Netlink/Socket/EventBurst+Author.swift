extension EventBurst {
    /// Who made changes, as their messages tell it: a port is a name, mostly the number of a process, and proves nothing.
    ///
    /// C counterpart: `nlmsg_pid` of `nlmsghdr`, netlink(7).
    package enum Author: Hashable, Sendable {
        /// The kernel itself, or nobody is told. What follows from a process's change has no port of its own, such as the routes
        /// that go with an address.
        case kernel
        /// One process, by the netlink port it asked from.
        case port(UInt32)
        /// Several of them.
        case several

        init(port: UInt32) {
            self = port == 0 ? .kernel : .port(port)
        }

        mutating func formUnion(_ other: Author) {
            switch (self, other) {
            case (_, .kernel): break
            case (.kernel, _): self = other
            default: if self != other { self = .several }
            }
        }
    }
}
