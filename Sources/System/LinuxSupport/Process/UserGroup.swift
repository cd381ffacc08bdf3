import Glibc

/// Groups of users, by the name service.
///
/// C counterpart: `getgrnam_r(3)`, `getgid(2)`.
package enum UserGroup {
    /// The number of a group; nil where there is none of that name. The name service is asked on the calling thread.
    package static func number(of name: String) -> UInt32? {
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        while true {
            var entry = group()
            var found: UnsafeMutablePointer<group>?
            let error = getgrnam_r(name, &entry, &buffer, buffer.count, &found)
            if error == 0 { return found?.pointee.gr_gid }
            // A group of very many members.
            guard error == ERANGE, buffer.count < 16 << 20 else { return nil }
            buffer = [CChar](repeating: 0, count: buffer.count * 4)
        }
    }
}

/// Users, by the name service.
///
/// C counterpart: `getpwuid_r(3)`.
package enum UserName {
    /// The name of a user; nil where there is none of that number. The name service is asked on the calling thread.
    package static func of(_ number: UInt32) -> String? {
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard getpwuid_r(number, &entry, &buffer, buffer.count, &found) == 0, let name = found?.pointee.pw_name else {
            return nil
        }
        return String(cString: name)
    }
}
