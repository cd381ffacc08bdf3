import Netlink

/// What a table said: the entry that matched and the leg to take.
struct Finding: Sendable {
    var entry: FakeNetwork.Entry
    /// The leg that was chosen; nil where the answer needs none.
    var leg: FakeNetwork.Leg
    /// The table as it is told.
    var table: UInt32
}
