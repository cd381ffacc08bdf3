import CLinux
import Glibc

/// The descriptors of this process, of which it may have so many.
package enum OpenFiles {
    /// How many it may have, RLIMIT_NOFILE of `getrlimit(2)`.
    package static var limit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Whether so many more can be had now. It takes them and gives them back, for nobody else says.
    package static func haveRoom(for count: Int) -> Bool {
        var taken: [CInt] = []
        defer { for number in taken { close(number) } }
        for _ in 0..<count {
            let number = eventfd(0, CInt(EFD_CLOEXEC))
            guard number >= 0 else { return false }
            taken.append(number)
        }
        return true
    }
}
