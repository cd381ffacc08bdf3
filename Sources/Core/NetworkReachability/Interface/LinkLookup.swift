package import Netlink

/// What a classification may ask for beyond the link it begins with. Each closure is called only when the answer
/// depends on it, on the thread that classifies.
package struct LinkLookup {
    /// The link of this index in the same network namespace; nil when there is none.
    package var link: (_ index: UInt32) -> Link?
    /// The links whose controller (IFLA_MASTER) has this index, in any order.
    package var ports: (_ controller: UInt32) -> [Link]
    /// What the device behind a link tells of itself; each call may cost system calls.
    package var hardware: (Link) -> LinkHardware

    package init(
        link: @escaping (_ index: UInt32) -> Link?,
        ports: @escaping (_ controller: UInt32) -> [Link],
        hardware: @escaping (Link) -> LinkHardware
    ) {
        self.link = link
        self.ports = ports
        self.hardware = hardware
    }
}
