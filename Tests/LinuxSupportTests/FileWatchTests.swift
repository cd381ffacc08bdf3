import Glibc
import LinuxSupport
import NetworkLab
import Testing

@Suite("File watch")
struct FileWatchTests {
    private func temporaryDirectory() throws -> String {
        var template = Array("/tmp/file-watch-XXXXXX".utf8CString)
        let path = try #require(mkdtemp(&template))
        return String(cString: path)
    }

    /// Writes a file in a shell. A child that another thread starts can have a copy of a descriptor of this process, and
    /// the kernel reports IN_CLOSE_WRITE when the last copy is closed.
    private func write(_ text: String, to path: String) throws {
        _ = try LabProcess("sh", ["-c", #"printf %s "$0" > "$1""#, text, path]).wait()
    }

    @Test func `writing, replacing and deleting a file is reported, and changes of other files are not`() throws {
        let directory = try temporaryDirectory()
        defer { ["a", "b", "c"].forEach { unlink("\(directory)/\($0)") }; rmdir(directory) }
        let watch = try FileWatch(paths: ["\(directory)/a"])
        #expect(!watch.drain())
        try write("1", to: "\(directory)/a")
        #expect(watch.drain())
        try write("2", to: "\(directory)/b")
        #expect(!watch.drain())
        rename("\(directory)/b", "\(directory)/a")
        #expect(watch.drain())
        unlink("\(directory)/a")
        #expect(watch.drain())
        #expect(!watch.drain())
    }

    @Test(.enabled(if: getuid() == 0, "mounting needs root"))
    func `a mount at the path of a file or of its directory is reported, and another mount is not`() throws {
        let directory = try temporaryDirectory()
        defer { _ = try? LabProcess("rm", ["-r", directory]).wait() }
        for name in ["a", "b", "other"] { try write(name, to: "\(directory)/\(name)") }
        mkdir("\(directory)/below", 0o755)
        mkdir("\(directory)/above", 0o755)
        try write("1", to: "\(directory)/below/file")
        let watch = try FileWatch(paths: ["\(directory)/a", "\(directory)/below/file"], watchesContents: true)
        func mount(_ source: String, at target: String) throws {
            try check(
                "mount",
                Glibc.mount("\(directory)/\(source)", "\(directory)/\(target)", nil, UInt(MS_BIND), nil)
            )
        }
        #expect(watch.changes().isEmpty)
        try mount("b", at: "a")
        var event = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&event, 1, -1) == 1)
        #expect(watch.changes() == ["\(directory)/a"])
        // The mounted file is now watched.
        try write("2", to: "\(directory)/b")
        #expect(watch.changes() == ["\(directory)/a"])
        try mount("b", at: "other")
        #expect(watch.changes().isEmpty)
        try mount("above", at: "below")
        #expect(watch.changes() == ["\(directory)/below/file"])
        for name in ["below", "other", "a"] { umount("\(directory)/\(name)") }
        #expect(watch.changes() == ["\(directory)/a", "\(directory)/below/file"])
    }

    @Test func `changes are reported for a dangling link whose directories are created and moved later`() throws {
        let directory = try temporaryDirectory()
        defer { _ = try? LabProcess("rm", ["-r", directory]).wait() }
        symlink("run/names/current", "\(directory)/a")
        let watch = try FileWatch(paths: ["\(directory)/a"])
        #expect(!watch.drain())
        mkdir("\(directory)/run", 0o755)
        #expect(watch.drain())
        mkdir("\(directory)/run/names", 0o755)
        #expect(watch.drain())
        symlink("../other", "\(directory)/run/names/current")
        #expect(watch.drain())
        try write("1", to: "\(directory)/run/other")
        #expect(watch.drain())
        try write("2", to: "\(directory)/run/unrelated")
        #expect(!watch.drain())
        rename("\(directory)/run", "\(directory)/old")
        #expect(watch.drain())
        try write("3", to: "\(directory)/old/other")
        #expect(!watch.drain())
        mkdir("\(directory)/run", 0o755)
        mkdir("\(directory)/run/names", 0o755)
        #expect(watch.drain())
        try write("4", to: "\(directory)/run/names/current")
        #expect(watch.drain())
        watch.remove("\(directory)/a")
        try write("5", to: "\(directory)/run/names/current")
        #expect(!watch.drain())
    }

    @Test func `a write through another name is reported only if the contents are watched`() throws {
        let directory = try temporaryDirectory()
        let elsewhere = try temporaryDirectory()
        defer { for path in [directory, elsewhere] { _ = try? LabProcess("rm", ["-r", path]).wait() } }
        try write("1", to: "\(elsewhere)/x")
        link("\(elsewhere)/x", "\(directory)/a")
        let watch = try FileWatch(paths: ["\(directory)/a"], watchesContents: true)
        let plain = try FileWatch(paths: ["\(directory)/a"])
        try write("2", to: "\(elsewhere)/x")
        #expect(watch.drain() && !plain.drain())
        // The earlier file is no longer watched.
        try write("1", to: "\(directory)/b")
        rename("\(directory)/b", "\(directory)/a")
        #expect(watch.drain() && plain.drain())
        #expect(!watch.drain())
        try write("3", to: "\(elsewhere)/x")
        #expect(!watch.drain())
    }

    @Test func `a link and its target are watched, even after the link has changed`() throws {
        let directory = try temporaryDirectory()
        let elsewhere = try temporaryDirectory()
        defer {
            ["a"].forEach { unlink("\(directory)/\($0)") }
            ["x", "y"].forEach { unlink("\(elsewhere)/\($0)") }
            rmdir(directory)
            rmdir(elsewhere)
        }
        try write("1", to: "\(elsewhere)/x")
        try write("1", to: "\(elsewhere)/y")
        symlink("\(elsewhere)/x", "\(directory)/a")
        let watch = try FileWatch(paths: ["\(directory)/a"])
        try write("2", to: "\(elsewhere)/x")
        #expect(watch.drain())
        unlink("\(directory)/a")
        symlink("\(elsewhere)/y", "\(directory)/a")
        #expect(watch.drain())
        try write("2", to: "\(elsewhere)/y")
        #expect(watch.drain())
    }
}

struct LockFileTests {
    private static func withFile<R>(_ body: (String) throws -> R) rethrows -> R {
        let path = "/tmp/lock-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        defer { unlink(path) }
        return try body(path)
    }

    @Test func `a file has one lock at a time`() throws {
        try Self.withFile { path in
            let lock = try LockFile(path)
            #expect(throws: SystemError.tryAgain) { _ = try LockFile(path) }
            withExtendedLifetime(lock) {}
        }
    }

    /// A child process that another thread starts has a copy until it executes its program.
    @Test func `the lock ends although another copy of its descriptor exists`() throws {
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

@Suite struct QuietClockTests {
    private let clock = QuietClock()

    @Test(arguments: [Duration.seconds(-1), .zero, .milliseconds(20)])
    func `a sleep takes at least the requested time`(duration: Duration) async throws {
        let start = clock.now
        try await clock.sleep(for: duration)
        #expect(start.duration(to: clock.now) >= duration)
    }

    @Test func `a sleep ends when its task is cancelled, even before its start`() async {
        let sleeper = Task { [clock] in try await clock.sleep(for: .seconds(3600)) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}
