import LinuxPrimitives

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

    /// What to say where there is no path.
    package static func missing(_ name: String) -> String {
        "CREDENTIALS_DIRECTORY is not set, so it is a path: write ./\(name.printable)"
    }
}
