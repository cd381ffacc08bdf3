import Glibc
import LinuxSupport
import Testing

struct LockFileTests {
    private static func withFile<R>(_ body: (String) throws -> R) rethrows -> R {
        let path = "/tmp/lock-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        defer { unlink(path) }
        return try body(path)
    }

    @Test func `one has it at a time`() throws {
        try Self.withFile { path in
            let lock = try LockFile(path)
            #expect(throws: SystemError.tryAgain) { _ = try LockFile(path) }
            withExtendedLifetime(lock) {}
        }
    }

    /// As a child that some other thread starts has one for a moment, until it runs its program.
    @Test func `it is let go of though somebody has a copy of its descriptor`() throws {
        try Self.withFile { path in
            var copy: CInt = -1
            do {
                let lock = try LockFile(path)
                copy = dup(try #require(Self.descriptor(of: path)))
                withExtendedLifetime(lock) {}
            }
            defer { close(copy) }
            _ = try LockFile(path)
        }
    }

    private static func descriptor(of path: String) -> CInt? {
        var wanted = stat()
        guard stat(path, &wanted) == 0 else { return nil }
        return (CInt(0)..<1024).first { number in
            var found = stat()
            return fstat(number, &found) == 0 && found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino
        }
    }
}
