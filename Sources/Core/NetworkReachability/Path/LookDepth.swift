/// How much a look may leave out, because of what was heard. A later look makes up for it.
enum LookDepth: Hashable, Sendable {
    /// Nothing.
    case whole
    /// IPv6 is asked about only if IPv4 does not decide.
    case quick
    /// Nothing; but what was removed may have been the way, so its source is not expected again.
    case searching
}
