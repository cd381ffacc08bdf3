import CommandLineSupport
import Foundation
import NetworkLab
import Testing
import TrustForge

/// The files and directories that `run --hooks` and `exec` of a notifier refuse.
@Suite struct HookCheckTests {
    private let directory: ScratchDirectory

    init() throws {
        directory = try ScratchDirectory()
    }

    private func file(_ name: String, mode: mode_t = 0o755) throws -> String {
        let path = try directory.write(name, "#!/bin/sh\n")
        guard chmod(path, mode) == 0 else { throw LabError.system("chmod \(path)") }
        return path
    }

    private func refusal(_ body: () throws(HookRefusal) -> Void) -> HookRefusal? {
        do throws(HookRefusal) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    private func hook(_ path: String) -> HookRefusal? {
        refusal { () throws(HookRefusal) in try HookCheck().checkHook(path) }
    }

    private func folder(_ path: String) -> HookRefusal? {
        refusal { () throws(HookRefusal) in try HookCheck().checkDirectory(path) }
    }

    @Test func `a hook is an executable that only its owner can write`() throws {
        #expect(hook(try file("own")) == nil)
        #expect(hook("/bin/echo") == nil)
        #expect(hook(try file("group", mode: 0o775)) == .writableByOthers)
        #expect(hook(try file("other", mode: 0o757)) == .writableByOthers)
        #expect(hook(try file("plain", mode: 0o644)) == .notExecutable)
        #expect(hook(directory.path) == .noRegularFile)
        #expect(hook(directory.path + "/missing") == .unreadable("No such file or directory"))
        let link = directory.path + "/dangling"
        #expect(symlink("nowhere", link) == 0)
        #expect(hook(link) == .unreadable("No such file or directory"))
    }

    @Test func `a directory of hooks is closed to others`() throws {
        #expect(chmod(directory.path, 0o755) == 0)
        #expect(folder(directory.path) == nil)
        #expect(folder(try file("file")) == .noDirectory)
        #expect(folder(directory.path + "/missing") == .unreadable("No such file or directory"))
        #expect(chmod(directory.path, 0o777) == 0)
        #expect(folder(directory.path) == .writableByOthers)
        #expect(throws: ExitMessage.self) { try HookDirectory(directory.path) }
    }

    @Test func `only files of root and of the user are trusted`() throws {
        let path = try file("own")
        let foreign = HookCheck(user: geteuid() &+ 1)
        let isRoot = geteuid() == 0
        #expect(
            refusal { () throws(HookRefusal) in try foreign.checkHook(path) }
                == (isRoot ? nil : .foreignOwner(geteuid()))
        )
        guard isRoot, chown(path, 65_534, 65_534) == 0 else { return }
        #expect(hook(path) == .foreignOwner(65_534))
        #expect(refusal { () throws(HookRefusal) in try HookCheck(user: 65_534).checkHook(path) } == nil)
    }

    @Test func `a refusal says what to do`() {
        let texts = [
            HookRefusal.noDirectory: "it is no directory", .noRegularFile: "it is no regular file",
            .notExecutable: "it is not executable: `chmod +x` lets it be run",
            .writableByOthers: "its group or others may write to it: `chmod go-w` takes that away",
            .foreignOwner(7):
                "it belongs to user 7: only what belongs to root, or to the user who runs this, is trusted",
        ]
        for (refusal, text) in texts { #expect("\(refusal)" == text) }
    }

    @Test func `hooks run in the order of their names, without backups of editors and packages`() async throws {
        #expect(chmod(directory.path, 0o755) == 0)
        for name in ["20-b", "10-a", "30-c", "Z", ".hidden", "a~", "a.bak", "a.dpkg-old", "a.dpkg-new"] {
            _ = try file(name)
        }
        let hooks = await (try HookDirectory(directory.path)).hooks()
        #expect(hooks.map(\.name) == ["10-a", "20-b", "30-c", "Z"].map { "\(directory.path)/\($0)" })
    }
}
