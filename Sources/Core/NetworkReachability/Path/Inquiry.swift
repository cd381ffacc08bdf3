import Netlink

/// Whether packets with a mark would get to an address, and how far the asking has come.
struct Inquiry {
    let address: IPAddress
    let mark: UInt32
    private let interface: Zone
    /// What to ask first; nil where there is nothing to ask.
    var query: RouteQuery?
    /// Which of all answers is the one to that.
    var first: Int?
    /// Which is the answer to what the first leaves open; nil where it leaves nothing open.
    var second: Int?
    /// Which is the routing entry behind a way that leads over a dead link; nil where that was not asked for.
    var entry: Int?

    init(_ address: IPAddress, mark: UInt32, interface: Zone = .none) {
        (self.address, self.mark, self.interface) = (address, mark, interface)
    }

    /// The name or index of the interface that packets are bound to; nil for none.
    var zone: String? { address.zone ?? (interface == .none ? nil : interface.text) }
}
