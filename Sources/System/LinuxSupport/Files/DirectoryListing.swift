import Glibc

/// The names in a directory.
///
/// C counterpart: `readdir(3)`.
package enum DirectoryListing {
    /// Every name that is text and may be a file's, in order: to open a pipe or a device could wait, or do something.
    package static func files(in path: String) throws(SystemError) -> [String] {
        try names(in: path) { $0 == DT_REG || $0 == DT_LNK || $0 == DT_UNKNOWN }
    }

    /// Every name that is text, in order, but `.` and `..`.
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
