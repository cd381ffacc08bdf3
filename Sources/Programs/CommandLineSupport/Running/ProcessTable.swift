package import Glibc
import LinuxSupport
import Netlink

/// What `/proc` tells of process groups, and `kill(2)` does not: which members still live.
///
/// Source: `proc(5)`.
package enum ProcessTable {
    /// Whether it is there, and is that of the process namespace we are in.
    package static var isOurs: Bool {
        var buffer = [CChar](repeating: 0, count: 16)
        let count = unsafe readlink("/proc/self", &buffer, buffer.count)
        guard count > 0 else { return false }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) == String(getpid())
    }

    /// A member of a group that has not ended, if there is one.
    package static func livingMember(of group: pid_t) -> pid_t? {
        guard let directory = unsafe opendir("/proc") else { return nil }
        defer { unsafe closedir(directory) }
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let process = pid_t(name), lives(process, in: group) { return process }
        }
        return nil
    }

    /// Whether a process is in the group and has not ended. Who has, and was not waited for, is a zombie (Z).
    package static func lives(_ process: pid_t, in group: pid_t) -> Bool {
        // The name of the program stands in parentheses, and may contain anything; state, parent and group follow.
        guard let text = TextFile.read("/proc/\(process)/stat"), let end = text.unicodeScalars.lastIndex(of: ")") else {
            return false
        }
        let fields = text[text.unicodeScalars.index(after: end)...].split(at: " ", maxSplits: 3)
        return fields.count > 3 && fields[0] != "Z" && fields[0] != "X" && fields[2] == String(group)
    }
}
