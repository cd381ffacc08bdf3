/// The tables that exist in every namespace.
///
/// C counterpart: `RT_TABLE_*` in `<linux/rtnetlink.h>`.
enum RoutingTable {
    static let `default`: UInt32 = 253
    static let main: UInt32 = 254
    static let local: UInt32 = 255
}
