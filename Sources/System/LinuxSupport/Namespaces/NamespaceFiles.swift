import CLinux
import Glibc

/// The files in `/etc/netns/NAME`, which a named network namespace has in place of those in `/etc`: its name servers, its hosts, whatever else is there.
///
/// C counterpart: `ip-netns(8)`, `unshare(2)` with CLONE_NEWNS, `mount(2)` with MS_BIND.
package struct NamespaceFiles: Sendable {
    private static let places = ["/run/netns/", "/var/run/netns/"]
    private static let root = "/etc/netns"

    private let directory: String

    /// Nil for a namespace without a name, or without files of its own.
    package init?(of namespace: NamespaceReference) {
        guard let directory = Self.directory(of: namespace), access(directory, F_OK) == 0 else { return nil }
        self.directory = directory
    }

    /// Where the namespace would have its files; nil for one without a name.
    private static func directory(of namespace: NamespaceReference) -> String? {
        guard let place = places.first(where: { namespace.path.hasPrefix($0) }) else { return nil }
        return "\(root)/\(namespace.path.dropFirst(place.utf8.count))"
    }

    /// Where the namespace has these files of `/etc`, now or later; nothing for a namespace without a name.
    package static func places(of files: [String], in namespace: NamespaceReference) -> [String] {
        guard let directory = directory(of: namespace) else { return [] }
        return files.filter { $0.hasPrefix("/etc/") }.map { "\(directory)/\($0.dropFirst("/etc/".utf8.count))" }
    }

    /// Where the namespace has a file of `/etc`, such as `/etc/hosts`.
    package func path(of file: String) -> String {
        guard file.hasPrefix("/etc/") else { return file }
        let own = "\(directory)/\(file.dropFirst("/etc/".utf8.count))"
        return access(own, F_OK) == 0 ? own : file
    }

    /// Lets the calling thread see them in `/etc`, where the C library looks for them. It must be about to end, or be the only one of a
    /// program, whose later threads see them too.
    package func show() throws(SystemError) {
        guard clinux_unshare_mounts() == 0, mount("", "/", "none", UInt(MS_SLAVE) | UInt(MS_REC), nil) == 0 else {
            throw .current
        }
        for name in try DirectoryListing.names(in: directory) {
            // As `ip netns exec` does: files and directories alike, and what has no place in /etc is left out.
            let (file, own) = ("/etc/\(name)", "\(directory)/\(name)")
            guard access(file, F_OK) == 0 else { continue }
            guard mount(own, file, "none", UInt(MS_BIND), nil) == 0 else { throw .current }
        }
    }
}
