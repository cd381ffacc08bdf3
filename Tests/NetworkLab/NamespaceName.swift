internal import CNetworkLab
import Glibc
import Synchronization

/// A name under /run/netns, or in a directory of one's own, for a namespace, as `ip netns attach` gives it; taken away when removed or released.
package final class NamespaceName: Sendable {
    package let name: String
    package let path: String
    private let removed = Atomic(false)

    package init(_ name: String, in directory: String = "/run/netns", for namespace: LabNamespace) throws {
        self.name = name
        path = directory + "/" + name
        mkdir(directory, 0o755)
        let file = try check("create \(path)", open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o444))
        close(file)
        do {
            let target = path
            try namespace.perform {
                _ = try check("mount \(target)", lab_bind_mount("/proc/thread-self/ns/net", target))
            }
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Takes the name away, as `ip netns delete` does. Doing it twice does nothing.
    package func remove() {
        guard !removed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        _ = lab_unmount(path)
        unlink(path)
    }

    deinit {
        remove()
    }
}
