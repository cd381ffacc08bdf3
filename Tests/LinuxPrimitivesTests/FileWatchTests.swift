import Glibc
import LinuxPrimitives
import Testing

@Suite("Watching single files")
struct FileWatchTests {
    private func temporaryDirectory() throws -> String {
        var template = Array("/tmp/file-watch-XXXXXX".utf8CString)
        let path = try #require(mkdtemp(&template))
        return String(cString: path)
    }

    private func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }

    @Test("A file that is written, replaced, deleted and made again; others do not matter")
    func changes() throws {
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

    @Test("Both ends of a symbolic link, also after it points elsewhere")
    func links() throws {
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
