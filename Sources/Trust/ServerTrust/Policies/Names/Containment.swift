/// Whether a name is in a subtree of names. What cannot be read, or not be compared, is in doubt: it counts as excluded, and as not
/// permitted.
enum Containment: Hashable {
    case inside, outside, doubtful
}
