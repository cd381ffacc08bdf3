/// Why it is not known whether a certificate has been revoked: what each source lacked, in the order in which they were asked.
public struct RevocationDoubt: Hashable, Sendable {
    /// At least one.
    public let obstacles: [RevocationObstacle]

    /// No obstacles mean that there was no source to ask.
    public init(_ obstacles: [RevocationObstacle]) {
        self.obstacles = obstacles.isEmpty ? [RevocationObstacle(.noSource)] : obstacles
    }

    /// One that has to do with no source.
    public init(_ problem: RevocationProblem) {
        self.init([RevocationObstacle(problem)])
    }
}

extension RevocationDoubt: CustomStringConvertible {
    /// All of them.
    public var description: String { obstacles.map(\.description).joined(separator: "; ") }
}
