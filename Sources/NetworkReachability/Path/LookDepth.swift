/// How much a look may leave out, because of what was heard. A later look makes up for it.
enum LookDepth: Hashable, Sendable {
    /// Nothing.
    case whole
    /// IPv6 is asked about only if IPv4 does not decide.
    case quick
}
