import Glibc
import LinuxSupport

/// What is done with a file that is damaged: it gets another name, and is never deleted.
enum CorruptFile {
    private static let mark = ".corrupt-"

    /// Gives the file, and what SQLite keeps beside it, a name that says when, and returns that name.
    ///
    /// C counterpart: `rename(2)`.
    static func setAside(_ file: String, at time: Duration) throws(Errno) -> String {
        var name = "\(file)\(mark)\(time.milliseconds)"
        while unsafe access(name, F_OK) == 0 { name += "-" }
        // The file first: without it the others are not looked at, and with it alone nothing but the newest is lost to repair.
        guard unsafe rename(file, name) == 0 else { throw .current }
        for suffix in ["-wal", "-shm"] { _ = unsafe rename(file + suffix, name + suffix) }
        return name
    }

    /// The newest file that was set aside, where nothing has been begun since.
    static func left(beside file: String) -> String? {
        guard unsafe access(file, F_OK) != 0 else { return nil }
        let slash = file.utf8.lastIndex(of: UInt8(ascii: "/"))
        let directory = slash.map { String(file[...$0]) } ?? ""
        let prefix = (slash.map { String(file[file.utf8.index(after: $0)...]) } ?? file) + mark
        let names = entries(of: directory.isEmpty ? "." : directory).filter {
            $0.hasPrefix(prefix) && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
        }
        return names.max().map { directory + $0 }
    }

    private static func entries(of directory: String) -> [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        return names
    }
}
