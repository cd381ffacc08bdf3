import LinuxPrimitives
import Netlink

extension NetworkNamespace {
    /// Moves the calling thread into the namespace, with the files that `/etc/netns/NAME` has for it, as `ip netns exec` does. Threads
    /// that it starts from then on are there too.
    package func enter() throws(NetworkReachabilityError) {
        guard let reference = try makeReference() else { return }
        do throws(NetlinkError) {
            try NamespaceEntry.enter(reference)
        } catch {
            throw .namespace(self, error)
        }
        do throws(SystemError) {
            try NamespaceFiles(of: reference)?.show()
        } catch {
            throw .namespaceUnavailable(
                namespace: description,
                attempt: "use the files in /etc/netns for \(self)",
                cause: error.description
            )
        }
    }
}
