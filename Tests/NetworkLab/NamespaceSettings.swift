import Glibc

/// Files in `/etc/netns/NAME`, which a named namespace has in place of those in `/etc`, as `ip-netns(8)` has it; taken away when removed or
/// released.
package final class NamespaceSettings: Sendable {
    private let directory: String
    private let names: [String]

    /// Whether this user may make such files; only the owner of `/etc` may.
    package static var isPermitted: Bool {
        mkdir("/etc/netns", 0o755)
        return access("/etc/netns", W_OK) == 0
    }

    /// - Parameter files: their texts, by their names in `/etc`.
    package init(of namespace: NamespaceName, _ files: [String: String]) throws {
        directory = "/etc/netns/\(namespace.name)"
        names = Array(files.keys)
        try check("create \(directory)", mkdir(directory, 0o755))
        for (name, text) in files { try write(text, to: name) }
    }

    /// Writes a file, or writes it anew.
    package func write(_ text: String, to name: String) throws {
        let path = "\(directory)/\(name)"
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
        let file = LabDescriptor(try check("create \(path)", open(path, flags, 0o644)))
        guard Glibc.write(file.number, text, text.utf8.count) == text.utf8.count else {
            throw LabError.system("write \(path)")
        }
    }

    /// Doing it twice does nothing.
    package func remove() {
        for name in names { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }

    deinit {
        remove()
    }
}
