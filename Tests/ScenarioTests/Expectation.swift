/// What a line is compared by.
struct Expectation: Equatable, CustomStringConvertible {
    let status: String
    let connectionType: String?

    var description: String { connectionType.map { "\(status) \($0)" } ?? status }
}
