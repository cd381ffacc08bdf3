import Netlink

extension FakeResolver {
    /// Why a name has no address.
    public enum Failure: Hashable, Sendable {
        /// The name service says so.
        case noSuchName
        /// The name service could not be asked.
        case unavailable

        var failure: NameLookup.Failure {
            switch self {
            case .noSuchName: .noSuchName
            case .unavailable: .unavailable("Temporary failure in name resolution")
            }
        }
    }
}
