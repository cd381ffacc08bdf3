import ServerTrust

extension TrustFailure {
    /// The name of its case, for programs: `pinMismatch`.
    var name: String {
        // One with associated values is known to a mirror by its name.
        if let label = Mirror(reflecting: self).children.first?.label { return label }
        switch self {
        case .noCertificates: return "noCertificates"
        case .noPins: return "noPins"
        case .noEvaluator: return "noEvaluator"
        case .cancelled: return "cancelled"
        case .noRevocationChecker: return "noRevocationChecker"
        default: return "other"
        }
    }
}
