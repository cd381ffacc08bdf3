import LinuxSupport

/// Where a file with a secret lies.
package enum CredentialFile {
    /// The path of a file as a configuration names it: without a slash it lies where systemd puts credentials.
    ///
    /// - Returns: Nil where systemd has put none.
    ///
    /// Source: `LoadCredential=` of `systemd.exec(5)`.
    package static func path(of name: String) -> String? {
        if name.contains("/") { return name }
        return EnvironmentVariable.value(of: "CREDENTIALS_DIRECTORY").map { "\($0)/\(name)" }
    }

    /// Why a file is not used that every user of this machine can read, write or execute; nil for another file.
    ///
    /// - Parameter remedy: What to do once the file is protected, for users may have read it.
    package static func exposure(of path: String, remedy: String) -> String? {
        guard let mode = try? OwnFile.mode(path), mode & 0o007 != 0 else { return nil }
        let name = path.printable
        return "every user of this machine may use \(name): `chmod o= \(name)` takes that away, then \(remedy)"
    }

    /// What to say where there is no path.
    package static func missing(_ name: String) -> String {
        "CREDENTIALS_DIRECTORY is not set, so it is a path: write ./\(name.printable)"
    }
}
