import Glibc
package import Subprocess
import SystemPackage

/// Something to run.
package struct Program: Hashable, Sendable {
    /// A path, when there is a slash in it; otherwise looked up in PATH.
    package let name: String
    package var arguments: [String] = []

    package init(name: String, arguments: [String] = []) {
        self.name = name
        self.arguments = arguments
    }

    package var executable: Executable { isPath ? .path(FilePath(name)) : .name(name) }

    private var isPath: Bool { name.contains("/") }

    /// Why it could not be started, as a shell puts it: 127 for what was not found, 126 for what was found and cannot be run.
    package func failure(_ error: SubprocessError) -> (status: CInt, cause: String) {
        guard error.code == .executableNotFound else {
            return (126, error.underlyingError?.description ?? error.description)
        }
        guard isPath else { return (127, "PATH has no such command") }
        var status = stat()
        guard unsafe stat(name, &status) == 0 else { return (127, Errno(rawValue: errno).description) }
        // What is there and may be run lacks its interpreter, which the first line names.
        let mayRun = unsafe status.st_mode & S_IFMT == S_IFREG && access(name, X_OK) == 0
        return mayRun ? (127, "its interpreter is missing") : (126, Errno.permissionDenied.description)
    }
}
