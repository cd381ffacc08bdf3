extension NetworkNamespaces {
    /// A named network namespace.
    public struct Entry: Hashable, Sendable {
        /// The name in the directory, without it: `blue`.
        public let name: String

        /// What to set ``NetworkReachabilityOptions/networkNamespace`` to.
        public let namespace: NetworkNamespace
    }
}

extension NetworkNamespaces.Entry: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
