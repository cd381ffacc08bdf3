import CLinux
import Glibc
package import LinuxPrimitives

/// The files in `/etc/netns/NAME`, which a named network namespace has in place of those in `/etc`: its name servers, its hosts, whatever else is there.
///
/// C counterpart: `ip-netns(8)`, `unshare(2)` with CLONE_NEWNS, `mount(2)` with MS_BIND.
package struct NamespaceFiles: Sendable {
    private static let places = ["/run/netns/", "/var/run/netns/"]

    private let directory: String

    /// Nil for a namespace without a name, or without files of its own.
    package init?(of namespace: NamespaceReference) {
        guard let place = Self.places.first(where: { namespace.path.hasPrefix($0) }) else { return nil }
        directory = "/etc/netns/\(namespace.path.dropFirst(place.utf8.count))"
        guard access(directory, F_OK) == 0 else { return nil }
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
