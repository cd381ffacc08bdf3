/// Why a policy file cannot be used. Nothing of it is used then: half a policy is none.
public enum TrustPolicyFileError: Error, Hashable, Sendable {
    /// The file cannot be read. `cause` is what the system said.
    case unreadable(file: String, cause: String)

    /// Another file, which it names at that place, cannot be read; `problem` says which.
    case unreadableFile(file: String, line: Int, column: Int, problem: String)

    /// What stands at that place is wrong: lines are counted from 1, columns in bytes from 1.
    case wrong(file: String, line: Int, column: Int, problem: String)
}

extension TrustPolicyFileError: CustomStringConvertible {
    /// For example `policy.json:3:5: the key "pins" is there twice`.
    public var description: String {
        switch self {
        case .unreadable(let file, let cause): "cannot read the policy file \(file): \(cause)"
        case .unreadableFile(let file, let line, let column, let problem),
            .wrong(let file, let line, let column, let problem):
            "\(file):\(line):\(column): \(problem)"
        }
    }
}
