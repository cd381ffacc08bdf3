import LinuxPrimitives
import SystemPackage

extension MemoryFile {
    /// The file opened anew, read-only and from its beginning: a standard input that may be left unread. Writing to a pipe that
    /// nobody reads any more ends swift-subprocess 1.0 with a fatal error.
    func opened() throws -> FileDescriptor {
        try .open(FilePath("/proc/self/fd/\(descriptor)"), .readOnly, options: .closeOnExec)
    }
}
