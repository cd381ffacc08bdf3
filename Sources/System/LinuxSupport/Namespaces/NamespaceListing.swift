import CLinux
import Glibc

/// The names in a directory such as `/run/netns`, at one moment.
///
/// C counterpart: `readdir(3)`, `statfs(2)` with NSFS_MAGIC, `ioctl_ns(2)` with NS_GET_NSTYPE.
package struct NamespaceListing: Hashable, Sendable {
    /// The names that lead to a network namespace, in order.
    package private(set) var names: [String] = []
    /// The other names, in order: `ip netns add` makes an empty file first, and mounts the namespace over it then.
    package private(set) var others: [String] = []

    /// Empty where there is no such directory, or it cannot be read.
    package init(directory path: String) {
        guard let directory = opendir(path) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            // A name that is no text could not be given back to the kernel as it was.
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(validating: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name, name != ".", name != ".." else { continue }
            if Self.isNetworkNamespace("\(path)/\(name)") { names.append(name) } else { others.append(name) }
        }
        names.sort()
        others.sort()
    }

    private static func isNetworkNamespace(_ path: String) -> Bool {
        var status = statfs()
        // Opening anything else could wait, or do something.
        guard statfs(path, &status) == 0, status.f_type == NSFS_MAGIC else { return false }
        guard let file = try? Descriptor.open(path) else { return false }
        return clinux_is_network_namespace(file.number) != 0
    }
}
