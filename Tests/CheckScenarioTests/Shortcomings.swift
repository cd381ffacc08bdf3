/// Known failures of the command, by situation. They are printed and do not fail a run. Remove entries that are fixed.
enum Shortcomings {
    /// The place or the reason differs.
    static let verdicts: [String: String] = [:]

    /// More packets are sent than documented.
    static let costs: Set<String> = []
}
