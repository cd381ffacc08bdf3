import CLinux
import Glibc

/// Reading of whole files.
///
/// C counterpart: `read(2)`, `access(2)`.
package enum InputFile {
    /// True if a file exists and may be read (`access(2)` with R_OK).
    package static func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }

    /// Every byte of a file, at most `limit` of them (EFBIG).
    package static func read(_ path: String, limit: Int = 1 << 31) throws(SystemError) -> [UInt8] {
        let file = try Descriptor.open(path)
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = try SystemError.check { Glibc.read(file.number, &chunk, chunk.count) }
            if count == 0 { return content }
            content.append(contentsOf: chunk[..<count])
            if content.count > limit { throw .fileTooLarge }
        }
    }
}

/// Reading of small system files.
///
/// C counterpart: `read(2)`.
package enum TextFile {
    /// The file's text, at most `limit` bytes of it; nil when it cannot be read.
    package static func read(_ path: String, limit: Int = 1 << 20) -> String? {
        guard let file = try? Descriptor.open(path) else { return nil }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while content.count < limit {
            let count = Glibc.read(file.number, &chunk, chunk.count)
            guard count > 0 else { break }
            content.append(contentsOf: chunk[..<count])
        }
        return String(decoding: content, as: UTF8.self)
    }
}

/// A regular file that is read at any offset.
///
/// C counterpart: `open(2)`, `pread(2)`.
package final class ReadableFile: Sendable {
    private let file: Descriptor

    /// Opens a file; anything but a regular file is refused (EINVAL), and not waited for.
    package init(_ path: String) throws(SystemError) {
        file = try Descriptor(openingRegular: path, O_RDONLY)
    }

    /// The current size in bytes.
    package var size: Int64 { (try? file.status().st_size).map(Int64.init) ?? 0 }

    /// Returns up to `count` bytes from an offset on; none at the end.
    package func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
        try file.read(count, at: offset)
    }
}

/// A file that is written from its beginning to its end. Only its owner may read it.
///
/// C counterpart: `open(2)`, `write(2)`, `fsync(2)`.
package struct OutputFile: ~Copyable, Sendable {
    private let file: Descriptor

    /// Makes a file of mode 0600.
    ///
    /// - Parameter replacing: Whether an existing file is emptied. Otherwise it is an error (EEXIST). Symbolic links are not followed.
    package init(_ path: String, replacing: Bool) throws(SystemError) {
        let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NOCTTY | (replacing ? O_TRUNC : O_EXCL)
        let file = try Descriptor(opening: path, flags)
        // An existing file may have had another mode. A pipe keeps its own.
        if replacing, try file.status().st_mode & S_IFMT == S_IFREG { fchmod(file.number, 0o600) }
        self.file = file
    }

    /// Writes all of `bytes` at the end. After an error, some of them may be written.
    package func append(_ bytes: [UInt8]) throws(SystemError) {
        try file.write(bytes)
    }

    /// Waits until all data is on the disk. Files that are not on a disk, such as pipes, need no wait.
    package func sync() throws(SystemError) {
        try file.sync()
    }
}

/// Operations on names of files.
///
/// C counterpart: `renameat2(2)`, `fsync(2)` of a directory.
package enum FileName {
    /// Renames a file. An existing file with the new name is an error (EEXIST), unless it is replaced.
    package static func move(_ path: String, to name: String, replacing: Bool) throws(SystemError) {
        if replacing { return try OwnFile.rename(path, to: name) }
        if clinux_rename_new(path, name) == 0 { return }
        // File systems that do not know the flag know links.
        guard SystemError.current == .invalidArgument else { throw .current }
        guard link(path, name) == 0 else { throw .current }
        unlink(path)
    }

    /// True if the path exists. A dangling link counts.
    package static func isTaken(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// How many bytes a file has; nil where it is not there or not regular.
    package static func size(of path: String) -> Int64? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    /// Waits until the names in the directory of a file are on the disk.
    package static func syncDirectory(of path: String) throws(SystemError) {
        let slash = path.unicodeScalars.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        try Descriptor.open(directory).sync()
    }
}

/// The names in a directory.
///
/// C counterpart: `readdir(3)`.
package enum DirectoryListing {
    /// The sorted names of files that are valid text. Opening a pipe or a device could block or have effects.
    package static func files(in path: String) throws(SystemError) -> [String] {
        try names(in: path) { $0 == DT_REG || $0 == DT_LNK || $0 == DT_UNKNOWN }
    }

    /// The sorted names that are valid text, except `.` and `..`.
    package static func names(in path: String) throws(SystemError) -> [String] {
        try names(in: path) { _ in true }.filter { $0 != "." && $0 != ".." }
    }

    private static func names(in path: String, _ isWanted: (Int) -> Bool) throws(SystemError) -> [String] {
        guard let directory = opendir(path) else { throw .current }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(validating: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name, isWanted(Int(entry.pointee.d_type)) else { continue }
            names.append(name)
        }
        return names.sorted()
    }
}
