import CLinux
import Glibc

/// Which network namespace something lives in.
///
/// C counterpart: the device and inode of `/proc/thread-self/ns/net` and `/proc/self/ns/net`, `namespaces(7)`.
package struct NamespaceIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    /// The calling thread's namespace; nil where /proc is not mounted.
    package static var current: NamespaceIdentity? { try? NamespaceIdentity(path: "/proc/thread-self/ns/net") }

    /// The process's namespace, which is that of its first thread; nil where /proc is not mounted.
    package static var ofProcess: NamespaceIdentity? { try? NamespaceIdentity(path: NamespaceReference.ofProcess.path) }

    /// The namespace that `path`, for example `/run/netns/blue`, is bound to.
    package init(path: String) throws(SystemError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .current }
        self.init(status)
    }

    /// The namespace of a descriptor.
    init(of file: borrowing Descriptor) throws(SystemError) {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw .current }
        self.init(status)
    }

    private init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
