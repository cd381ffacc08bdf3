import Netlink

/// A question on its way to a verdict.
struct Inquiry {
    let address: IPAddress
    /// What to ask first; nil where there is nothing to ask.
    let query: RouteQuery?
    /// Which of all answers is the one to that.
    var first: Int?
    /// Which is the answer to what the first leaves open; nil where it leaves nothing open.
    var second: Int?
    /// Which is the routing entry behind a way that leads over a dead link; nil where that was not asked for.
    var entry: Int?
}
