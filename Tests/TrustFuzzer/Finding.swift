/// What became of bytes.
enum Finding {
    /// Refused, or not read, for this reason.
    case refused(String)
    /// Read, or trusted, as it may be.
    case passed
    /// Trusted though it must not be.
    case forbidden(String)

    var name: String {
        switch self {
        case .refused(let reason): reason
        case .passed: "passed, as it may"
        case .forbidden(let what): "FORBIDDEN: \(what)"
        }
    }

    /// Without what the reason says of this one.
    static func refused(by error: any Error) -> Finding {
        .refused(Mirror(reflecting: error).children.first?.label ?? "\(error)")
    }
}
