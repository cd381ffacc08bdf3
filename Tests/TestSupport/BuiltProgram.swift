import Glibc

/// Programs that were built with the tests.
package enum BuiltProgram {
    /// Where one of them lies: beside the running test bundle.
    package static func path(_ name: String) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let bundle = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return bundle.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/" + name
    }
}
