/// What is wrong, and where.
struct PolicyFileFault: Error {
    let place: TextPlace
    let problem: String
    /// Whether it is wrong because another file cannot be read.
    var isUnreadable = false

    init(_ problem: String, at place: TextPlace, isUnreadable: Bool = false) {
        self.problem = problem
        self.place = place
        self.isUnreadable = isUnreadable
    }
}
