/// How much a look may leave out, because of what was heard. A later look makes up for it.
enum LookDepth: Sendable {
    /// Nothing.
    case whole
    /// What none of the flags and ways depends on.
    case quick
    /// Also what depends on addresses, routes and rules, for only links have changed.
    case links
}
