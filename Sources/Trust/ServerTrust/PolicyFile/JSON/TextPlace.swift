/// Where something stands in a text.
struct TextPlace: Hashable, Sendable {
    /// From 1.
    var line = 1
    /// From 1, in bytes.
    var column = 1
}
