import Netlink

/// How much a look may leave out, because of what was heard. A later look makes up for it.
enum LookDepth: Hashable, Sendable {
    /// Nothing.
    case whole
    /// What none of the flags and ways depends on.
    case quick
    /// Also what else depends on new addresses and on rules: only links have changed, addresses went, and routes to these
    /// destinations came or went.
    case links(changed: ChangedPrefixes)
}
