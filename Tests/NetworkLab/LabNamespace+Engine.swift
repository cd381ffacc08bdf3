package import LinuxSupport

extension LabNamespace {
    /// An engine whose sockets are in the namespace.
    ///
    /// - Parameter asNobody: Whether they belong to the user 65534.
    package func engine(_ limits: EngineLimits = .init(), asNobody: Bool = false) throws -> SocketEngine {
        try SocketEngine(limits: limits) { () throws(SocketError) in
            do {
                try self.enter()
                if asNobody { try LabThread.becomeNobody() }
            } catch {
                throw SocketError(.enterNamespace("\(error)"), .notPermitted)
            }
        }
    }
}
