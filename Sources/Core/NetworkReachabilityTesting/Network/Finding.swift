import Netlink

/// What a table said: the entry that matched and the hop to take.
struct Finding: Sendable {
    var entry: FakeNetwork.Entry
    /// The hop that was chosen; nil where the answer needs none.
    var hop: FakeNetwork.Hop
    /// The table as it is told.
    var table: UInt32
}
