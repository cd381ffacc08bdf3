import Foundation
import NetworkLab
import ReachabilityOutbox
import Testing

/// A file that is not an outbox is neither read nor changed.
@Suite(.timeLimit(.minutes(15))) struct ForeignFileTests {
    /// The kind of the file. Its value is a shell command that creates the file `$0`.
    enum Kind: String, CaseIterable {
        case text = "echo hello >$0"
        case passwords = "cp /etc/passwd $0; chmod 644 $0"
        case database = "sqlite3 $0 'CREATE TABLE request (id); INSERT INTO request VALUES (1)'; chmod 640 $0"
        case databaseWithLog = """
            printf '.dbconfig no_ckpt_on_close on\\nPRAGMA journal_mode = wal;\\nCREATE TABLE t (x);\\n' | sqlite3 $0
            [ -s $0-wal ]
            """
        case databaseOfAnother = "sqlite3 $0 'PRAGMA application_id = 252006673; CREATE TABLE t (x)'"
        case empty = ": >$0"
        case directory = "mkdir $0"
        case queue = "mkfifo $0"
        case device = "mknod $0 c 1 3"
        case damagedHeader = "printf X | dd of=$0 conv=notrunc status=none"
    }

    /// A use of an outbox file.
    enum Use: CaseIterable {
        case list, listAll, listDead, open, replace

        func perform(on path: String) async throws {
            var options = OutboxOptions()
            switch self {
            case .list: _ = try await Outbox.entries(inFile: path)
            case .listAll: _ = try await Outbox.allEntries(inFile: path)
            case .listDead: _ = try await Outbox.deadLetters(inFile: path)
            case .open: _ = try await Outbox(file: path)
            case .replace:
                options.replacesCorruptFile = true
                _ = try await Outbox(file: path, options: options)
            }
        }
    }

    private func shell(_ script: String, in file: ScratchFile) async throws -> LabProcess.Result {
        let directory = file.directory
        return try await LabThread.detached {
            try LabProcess("sh", ["-c", "cd \(directory) || exit; \(script)", "outbox.sqlite"]).wait()
        }
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3")),
        arguments: Kind.allCases,
        [false, true]
    )
    func `a foreign file is rejected and not changed`(kind: Kind, isLink: Bool) async throws {
        let file = ScratchFile()
        if kind == .damagedHeader { try await file.open().close() }
        let made = try await shell("{ \(kind.rawValue); } >/dev/null", in: file)
        // Root in a user namespace cannot create devices.
        if kind == .device, made.status != 0 { return }
        try #require(made.status == 0, "\(made.errors)")
        if isLink {
            let script =
                "mv $0 target; for s in -wal -shm .lock; do [ ! -e $0$s ] || mv $0$s target$s; done; ln -s target $0"
            #expect(try await shell(script, in: file).status == 0)
        }
        let look = "find . -printf '%p %y %m %s %T@ %i %l\\n' | sort; find . -type f -exec sha256sum {} +"
        let before = try await shell(look, in: file).output
        let expected = OutboxError.foreignFile(isLink ? file.directory + "/target" : file.path)
        for use in Use.allCases {
            await #expect(throws: expected, "\(use)") { try await use.perform(on: file.path) }
            #expect(try await shell(look, in: file).output == before)
        }
    }
}
