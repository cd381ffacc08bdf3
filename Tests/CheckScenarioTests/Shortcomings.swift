/// What the command is known not to do yet, by situation: told with each run, and no failure. What it does by now is to be taken out.
enum Shortcomings {
    /// The place or the reason is another one.
    static let verdicts: [String: String] = [:]

    /// More packets are sent than were promised.
    static let costs: Set<String> = []
}
