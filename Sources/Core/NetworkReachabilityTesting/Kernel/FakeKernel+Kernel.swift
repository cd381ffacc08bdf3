package import Dispatch
package import LinuxPrimitives
package import Netlink
package import NetworkReachability

extension FakeKernel: Kernel {
    package func connect() throws(NetlinkError) -> any KernelConnection {
        let (connection, fault) = state.withLock { state in
            state.connectionFault.map { (0, $0) } ?? (state.connect(), nil)
        }
        if let fault { throw NetlinkError("open a netlink socket", fault.cause) }
        return FakeConnection(connection, to: self)
    }

    package func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] {
        let outcome: Result<[DefaultRoute], NetlinkError> = state.withLock { state in
            if let fault = state.connectionFault {
                return .failure(NetlinkError("open a netlink socket", fault.cause))
            }
            return .success(state.network.defaultRoutes)
        }
        return try outcome.get()
    }

    package func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        let id = state.withLock { state in
            let id = state.makeID()
            state.namespaceWatchers[id] = { queue.async { changed() } }
            return id
        }
        return Cancellation { [weak self] in
            _ = self?.state.withLock { $0.namespaceWatchers.removeValue(forKey: id) }
        }
    }
}
