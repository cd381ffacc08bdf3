import Foundation
import ReachabilityOutbox
import ReachabilityRetry
import Testing

/// The file: its mode, its earlier and later versions, and damage.
@Suite struct FileTests {
    private let file = ScratchFile()
    private let network = TestNetwork()

    @Test func `the file is readable only by its owner, also after it was not`() async throws {
        for _ in 0..<2 {
            let outbox = try await file.open()
            try await outbox.enqueue(.named("a"))
            #expect(file.names == ["", "-shm", "-wal", ".lock"].map { "outbox.sqlite" + $0 }.sorted())
            for name in file.names {
                var status = stat()
                #expect(stat(file.directory + "/" + name, &status) == 0)
                #expect(status.st_mode & 0o777 == 0o600, "\(name)")
            }
            #expect(chmod(file.path, 0o644) == 0)
        }
    }

    @Test func `listing changes nothing, whether the file is open or not`() async throws {
        let outbox = try await file.open()
        try await outbox.enqueue(.named("b"))
        try await outbox.flush(
            sender: TestSender(.rejected(reason: "no")),
            coordinator: RetryCoordinator(reachability: UnmonitoredReachability())
        )
        try await outbox.enqueue(.named("a"))
        for isOpen in [true, false] {
            let before = try file.state
            #expect(try await Outbox.entries(inFile: file.path).map(\.id) == [2])
            #expect(try await Outbox.allEntries(inFile: file.path).map(\.state) == [.waiting, .dead])
            #expect(try file.state == before)
            // The log is deleted when the last process closes the file.
            if isOpen { try await outbox.close() }
        }
        #expect(file.names == ["outbox.sqlite", "outbox.sqlite.lock"])
    }

    @Test func `two names of one file are the same outbox`() async throws {
        let outbox = try await file.open()
        let link = file.directory + "/link"
        #expect(symlink("outbox.sqlite", link) == 0)
        let linked = try await Outbox(file: link)
        try await linked.enqueue(.named("a"))
        #expect(try await outbox.entries().count == 1)
        #expect(linked.file.hasSuffix("/outbox.sqlite"))
        #expect(!file.names.contains { $0.hasPrefix("link.") || $0.hasPrefix("link-") })
    }

    @Test func `an outbox of an earlier version is recognised from its log alone`() async throws {
        // A killed process leaves such a file. Its application id is only in the log.
        _ = try file.sqlite(
            """
            .dbconfig no_ckpt_on_close on
            PRAGMA journal_mode = wal;
            PRAGMA user_version = 1;
            PRAGMA wal_checkpoint;
            BEGIN;
            PRAGMA user_version = 0;
            \(Self.version1)
            COMMIT;

            """
        )
        #expect(try await Outbox.entries(inFile: file.path).map(\.id) == [7])
        #expect(try await file.open().entries().map(\.id) == [7])
    }

    private static let version1 = """
        PRAGMA application_id = 1382960994;
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES ('1');
        CREATE TABLE request (id INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, origin TEXT NOT NULL,
            priority INTEGER NOT NULL, dedupeKey TEXT UNIQUE, idempotencyKey TEXT NOT NULL, enqueuedAt INTEGER NOT NULL,
            expiresAt INTEGER, notBefore INTEGER, attempts INTEGER NOT NULL DEFAULT 0,
            isClaimed INTEGER NOT NULL DEFAULT 0, size INTEGER NOT NULL, method TEXT NOT NULL, url TEXT NOT NULL,
            headers TEXT NOT NULL, body BLOB NOT NULL) STRICT;
        CREATE INDEX requestOrder ON request (host, priority DESC, id);
        CREATE INDEX requestExpiry ON request (expiresAt) WHERE expiresAt IS NOT NULL;
        CREATE INDEX requestSize ON request (size);
        INSERT INTO request VALUES (7, 'one.example', 'https://one.example', 3, 'k', 'key', 1000, NULL, NULL, 2, 1, 50,
            'PUT', 'https://one.example/x', 'A:b', x'0001');

        """

    @Test func `a file of version 1 is migrated with its requests`() async throws {
        _ = try file.sqlite(Self.version1)
        let outbox = try await file.open()
        let entry = try #require(try await outbox.entries().first)
        #expect(entry.description == "7: PUT https://one.example, priority 3, 50 bytes, attempts 2, sending")
        let sender = TestSender()
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 0)
        #expect(sender.sent.first?.request.body == [0, 1])
        #expect(
            sender.sent.first?.request.headers == [
                RequestHead.Field(name: "A", value: "b"), RequestHead.Field(name: "Idempotency-Key", value: "key"),
            ]
        )
        // The table that version 2 added.
        #expect(try await outbox.enqueue(.named("a"), dedupeKey: "k") == .delivered)
    }

    @Test func `a file of version 2 is listed unchanged and migrated with its requests`() async throws {
        _ = try file.sqlite(Self.version1 + Self.version2)
        let before = try file.state
        let read = try await Outbox.entries(inFile: file.path)
        #expect(read.map(\.id).sorted() == [7, 8, 9, 10])
        #expect(try await Outbox.deadLetters(inFile: file.path).isEmpty)
        #expect(try file.state == before)
        let outbox = try await file.open()
        let entries = try await outbox.entries()
        #expect(
            Set(entries.map(\.origin)) == ["https://one.example", "http://one.example", "https://one.example:8443"]
        )
        #expect(entries.allSatisfy { $0.lastError == nil && $0.nextTry == nil })
        let sender = TestSender(.rejected(reason: "status 404"))
        #expect(
            try await outbox.flush(
                sender: sender,
                coordinator: RetryCoordinator(reachability: UnmonitoredReachability())
            ) == 0
        )
        #expect(try await outbox.deadLetters().count == 1)
        // Earlier versions accepted a header that would break the message.
        #expect(sender.sent.allSatisfy { $0.request.headers.allSatisfy { $0.name != "Content-Length" } })
    }

    private static let version2 = """
        INSERT INTO grdb_migrations VALUES ('2');
        CREATE TABLE delivered (id INTEGER PRIMARY KEY AUTOINCREMENT, dedupeKey TEXT NOT NULL UNIQUE,
            deliveredAt INTEGER NOT NULL) STRICT;
        INSERT INTO delivered VALUES (1, 'done', 1000);
        INSERT INTO request VALUES (8, 'one.example', 'https://one.example:443', 0, NULL, 'key8', 1000, NULL, NULL, 0, 0, 50,
            'PUT', 'https://one.example:443/x', 'Content-Length:9', x'0001');
        INSERT INTO request VALUES (9, 'one.example', 'http://one.example:80', 0, NULL, 'key9', 1000, NULL, NULL, 0, 0, 50,
            'PUT', 'http://one.example:80/x', '', x'');
        INSERT INTO request VALUES (10, 'one.example', 'https://one.example:8443', 0, NULL, 'key10', 1000, NULL, NULL, 0, 0,
            50, 'PUT', 'https://one.example:8443/x', '', x'');

        """

    @Test func `a file of a later version is not changed`() async throws {
        _ = try await file.open()
        _ = try file.sqlite("INSERT INTO grdb_migrations VALUES ('4');")
        await #expect(throws: OutboxError.newerFormat(file.path)) { try await file.open() }
    }

    @Test func `a database of another program is not changed`() async throws {
        _ = try file.sqlite("CREATE TABLE request (id); INSERT INTO request VALUES (1);")
        let before = FileManager.default.contents(atPath: file.path)
        await #expect(throws: OutboxError.foreignFile(file.path)) { try await file.open() }
        #expect(FileManager.default.contents(atPath: file.path) == before)
    }

    /// The damage to an outbox whose header is intact.
    enum Damage: CaseIterable {
        /// Pages in the middle are overwritten.
        case middle
        /// Everything except the header is overwritten.
        case schema
        /// The file ends after its first page.
        case end
    }

    @Test(arguments: Damage.allCases)
    func `a corrupt outbox is renamed when opened for writing, and replaced only on request`(
        damage: Damage
    ) async throws {
        let whole = try await file.open()
        for _ in 0..<50 {
            try await whole.enqueue(OutboxRequest("POST", "https://a.example/", body: Array(repeating: 1, count: 4000)))
        }
        try await whole.close()
        let handle = try #require(FileHandle(forUpdatingAtPath: file.path))
        switch damage {
        case .middle:
            try handle.seek(toOffset: 5 * 4096)
            try handle.write(contentsOf: Data(repeating: 0xa5, count: 30 * 4096))
        case .schema:
            try handle.seek(toOffset: 100)
            try handle.write(contentsOf: Data(repeating: 0xa5, count: 30 * 4096))
        case .end: try handle.truncate(atOffset: 4096)
        }
        try handle.close()
        let damaged = FileManager.default.contents(atPath: file.path)
        let before = try file.state
        await #expect(throws: OutboxError.corrupt(file: file.path, keptAs: nil)) {
            try await Outbox.entries(inFile: file.path)
        }
        #expect(try file.state == before)
        var kept = ""
        // At the second attempt the file is missing. No new one may be created.
        for _ in 0..<2 {
            await #expect {
                try await file.open()
            } throws: { error in
                guard case OutboxError.corrupt(file.path, let name?)? = error as? OutboxError else { return false }
                kept = name
                return true
            }
        }
        #expect(FileManager.default.contents(atPath: kept) == damaged)
        var options = OutboxOptions()
        options.replacesCorruptFile = true
        let outbox = try await file.open(options)
        #expect(try await outbox.entries().isEmpty)
        #expect(FileManager.default.contents(atPath: kept) == damaged)
        _ = try await file.open()
    }

    @Test func `a path that cannot be opened is an error`() async throws {
        await #expect(throws: OutboxError.cannotOpen(file: "/nowhere/o", cause: "No such file or directory")) {
            try await Outbox(file: "/nowhere/o")
        }
    }
}
