/// A path, and how long it holds if nothing is announced.
struct Evaluation: Hashable, Sendable {
    var path: NetworkPath
    /// When to evaluate again although no event will come; nil for never.
    var lifetime: Duration?
}
