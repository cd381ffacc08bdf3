/// Something that is not as it should be, or was not looked at.
struct Finding: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// Packets did not do what the scenario claims.
        case truth
        /// No line came although the status changed.
        case missing
        /// The last line says something else than packets.
        case wrong
        /// A line came although nothing changed.
        case extra
        /// The one-shot command disagrees.
        case oneShot = "one-shot"
        /// A process, a line or a command was not as it must be.
        case broken
        /// The scenario is impossible here.
        case skipped
    }

    let kind: Kind
    let text: String
}
