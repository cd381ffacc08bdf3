import CNetlink

/// An entry of a link's neighbour table: who has an address there.
///
/// C counterpart: `ndmsg` and `NDA_*` in `<linux/neighbour.h>`.
package struct Neighbour: Hashable, Sendable {
    package var state: NeighbourState
    /// The link-layer address as sent, empty while it is not known.
    package var hardwareAddress: [UInt8]

    package init(state: NeighbourState, hardwareAddress: [UInt8] = []) {
        self.state = state
        self.hardwareAddress = hardwareAddress
    }

    /// Reads an RTM_NEWNEIGH body; nil when it is truncated.
    init?(body: UnsafeRawBufferPointer) {
        guard let head = body.load(ndmsg.self, at: 0) else { return nil }
        self.init(state: NeighbourState(rawValue: head.ndm_state))
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<ndmsg>.size)) where type == Int(NDA_LLADDR) {
            hardwareAddress = Array(value)
        }
    }
}
