import CLinux
import Glibc

/// Functions that read whole files.
///
/// C counterpart: `read(2)`, `access(2)`.
package enum InputFile {
    /// True if a file exists and may be read (`access(2)` with R_OK).
    package static func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }

    /// Returns the content of a file. More than `limit` bytes are an error (EFBIG).
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

/// A function that reads small files of the system.
///
/// C counterpart: `read(2)`.
package enum TextFile {
    /// Returns the text of a file, up to about `limit` bytes; nil if the file cannot be opened.
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

/// A regular file that can be read at any offset.
///
/// C counterpart: `open(2)`, `pread(2)`.
package final class ReadableFile: Sendable {
    private let file: Descriptor

    /// Opens a file without blocking. Any file that is not regular is an error (EINVAL).
    package init(_ path: String) throws(SystemError) {
        file = try Descriptor(openingRegular: path, O_RDONLY)
    }

    /// The current size in bytes.
    package var size: Int64 { (try? file.status().st_size).map(Int64.init) ?? 0 }

    /// Reads up to `count` bytes from an offset. Returns no bytes at the end of the file.
    package func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
        try file.read(count, at: offset)
    }
}

/// A file that is written sequentially. Only its owner may read it.
///
/// C counterpart: `open(2)`, `write(2)`, `fsync(2)`.
package struct OutputFile: ~Copyable, Sendable {
    private let file: Descriptor

    /// Creates a file with mode 0600. Symbolic links are not followed.
    ///
    /// - Parameter replacing: Whether to truncate an existing file. If false, an existing file is an error (EEXIST).
    package init(_ path: String, replacing: Bool) throws(SystemError) {
        let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NOCTTY | (replacing ? O_TRUNC : O_EXCL)
        let file = try Descriptor(opening: path, flags)
        // An existing file may have another mode. The mode of a pipe is not changed.
        if replacing, try file.status().st_mode & S_IFMT == S_IFREG { fchmod(file.number, 0o600) }
        self.file = file
    }

    /// Appends all of `bytes`. If it throws an error, some of the bytes may be written.
    package func append(_ bytes: [UInt8]) throws(SystemError) {
        try file.write(bytes)
    }

    /// Waits until all data is on disk. Files that are not on a disk, such as pipes, require no wait.
    package func sync() throws(SystemError) {
        try file.sync()
    }
}

/// Functions for the names of files.
///
/// C counterpart: `renameat2(2)`, `fsync(2)` of a directory.
package enum FileName {
    /// Renames a file. An existing file with the new name is replaced if `replacing` is true. Otherwise it is an error
    /// (EEXIST).
    package static func move(_ path: String, to name: String, replacing: Bool) throws(SystemError) {
        if replacing { return try OwnFile.rename(path, to: name) }
        if clinux_rename_new(path, name) == 0 { return }
        // A file system that does not support the flag supports hard links.
        guard SystemError.current == .invalidArgument else { throw .current }
        guard link(path, name) == 0 else { throw .current }
        unlink(path)
    }

    /// True if the path exists. A dangling link counts as existing.
    package static func isTaken(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Returns the target of a symbolic link; nil if it cannot be read. C counterpart: `readlink(2)`.
    package static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns the size of a file in bytes; nil if the file does not exist or is not regular.
    package static func size(of path: String) -> Int64? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    /// Waits until the directory entries beside a file are on disk.
    package static func syncDirectory(of path: String) throws(SystemError) {
        let slash = path.unicodeScalars.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        try Descriptor.open(directory).sync()
    }
}

/// Functions that list directories.
///
/// C counterpart: `readdir(3)`.
package enum DirectoryListing {
    /// Returns the sorted names of regular files and links. Names that are not valid UTF-8 are omitted. Opening a pipe
    /// or a device could block or have side effects.
    package static func files(in path: String) throws(SystemError) -> [String] {
        try names(in: path) { $0 == DT_REG || $0 == DT_LNK || $0 == DT_UNKNOWN }
    }

    /// Returns all names, sorted, except `.` and `..`. Names that are not valid UTF-8 are omitted.
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
