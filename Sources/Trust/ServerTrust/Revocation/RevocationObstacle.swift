/// Why one source did not say whether a certificate has been revoked.
public struct RevocationObstacle: Hashable, Sendable {
    /// Nil where no source was asked.
    public let source: RevocationSource?

    /// What was wrong.
    public let problem: RevocationProblem

    /// Checkers of your own make these.
    public init(_ problem: RevocationProblem, from source: RevocationSource? = nil) {
        self.source = source
        self.problem = problem
    }
}

extension RevocationObstacle: CustomStringConvertible {
    /// `the stapled response has expired, it was good until 2026-03-01T00:00:00Z`.
    public var description: String {
        source.map { "\($0) \(problem)" } ?? problem.description
    }
}
