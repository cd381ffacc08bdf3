import Dispatch
import Glibc
import NetworkLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// The set of named namespaces on the real kernel. The clock does not advance unless a test advances it, so changes are
/// found by events only.
@Suite struct NetworkNamespacesTests {
    private let directory: NamespaceDirectory
    private let clock = ManualClock()
    private let namespaces: NetworkNamespaces

    init() throws {
        directory = try NamespaceDirectory()
        namespaces = NetworkNamespaces(directory: directory.path, clock: clock)
    }

    @Test func `a listener receives the current namespaces and each change, sorted by name`() async throws {
        let blue = try await directory.add("blue")
        let names = NamespaceNames(namespaces)
        #expect(try await names.areLast(["blue"]))
        let amber = try await directory.add("amber")
        #expect(try await names.areLast(["amber", "blue"]))
        let cyan = try await directory.add("cyan")
        #expect(try await names.areLast(["amber", "blue", "cyan"]))
        #expect(namespaces.current.map(\.description) == ["amber", "blue", "cyan"])
        #expect(namespaces.current.map(\.namespace) == [amber, blue, cyan].map { .path($0.path) })
        blue.remove()
        #expect(try await names.areLast(["amber", "cyan"]))
        amber.remove()
        cyan.remove()
        #expect(try await names.areLast([]))
        #expect(names.values.first == ["blue"])
    }

    @Test func `a name is listed as soon as its namespace is mounted`() async throws {
        let names = NamespaceNames(namespaces)
        #expect(try await names.areLast([]))
        directory.touch("half")
        let blue = try await directory.add("blue")
        #expect(try await names.areLast(["blue"]))
        directory.unlink("half")
        let half = try await directory.add("half")
        #expect(try await names.areLast(["blue", "half"]))
        // The removal of the mount is not an event of the directory either.
        try await LabThread.detached { _ = try LabProcess("umount", [half.path]).wait() }
        #expect(try await names.areLast(["blue"]))
        blue.remove()
        half.remove()
        #expect(try await names.areLast([]))
        #expect(names.values == [[], ["blue"], ["blue", "half"], ["blue"], []])
    }

    @Test func `other files, directories and namespaces of other types are not listed`() async throws {
        directory.touch("file")
        mkdir("\(directory.path)/directory", 0o755)
        mkfifo("\(directory.path)/pipe", 0o644)
        symlink("/proc/self/ns/uts", "\(directory.path)/uts")
        symlink("/proc/self/ns/net", "\(directory.path)/net")
        symlink("/nowhere", "\(directory.path)/nowhere")
        #expect(namespaces.current.map(\.name) == ["net"])
        #expect(namespaces.others == ["directory", "file", "nowhere", "pipe", "uts"])
        rmdir("\(directory.path)/directory")
        for name in ["file", "pipe", "uts", "net", "nowhere"] { directory.unlink(name) }
    }

    @Test func `a directory that is removed and created again is followed`() async throws {
        let names = NamespaceNames(namespaces)
        #expect(try await names.areLast([]))
        for round in 0..<3 {
            directory.remove()
            directory.make()
            let name = try await directory.add("round\(round)")
            #expect(try await names.areLast(["round\(round)"]))
            name.remove()
            #expect(try await names.areLast([]))
        }
    }

    @Test func `a directory whose parents are created one by one is followed`() async throws {
        let path = "\(directory.path)/a/b"
        let names = NamespaceNames(NetworkNamespaces(directory: path, clock: clock))
        #expect(try await names.areLast([]))
        mkdir("\(directory.path)/other", 0o755)
        mkdir("\(directory.path)/a", 0o755)
        mkdir(path, 0o755)
        // A symbolic link, which causes no event of the mount table.
        symlink("/proc/self/ns/net", "\(path)/own")
        #expect(try await names.areLast(["own"]))
        unlink("\(path)/own")
        #expect(try await names.areLast([]))
        for name in ["a/b", "a", "other"] { rmdir("\(directory.path)/\(name)") }
    }

    @Test func `a change without an event is found by repeated scans for a limited time`() async throws {
        let target = "\(directory.path)/../target"
        symlink(target, "\(directory.path)/link")
        let names = NamespaceNames(namespaces)
        #expect(try await names.areLast([]))
        try await waitUntil { clock.scheduledCount == 1 }
        symlink("/proc/self/ns/net", target)
        await clock.advance(by: .milliseconds(600))
        #expect(try await names.areLast(["link"]))
        unlink(target)
        // No event reports the end. The next scan finds it, and then the scans end.
        directory.touch("bell")
        #expect(try await names.areLast([]))
        try await waitUntil { clock.scheduledCount == 1 }
        // Mounts of other tests cause scans in between, which may postpone the next one.
        try await waitUntil {
            await clock.advance(by: .seconds(2))
            return clock.scheduledCount == 0
        }
        for name in ["link", "bell"] { directory.unlink(name) }
    }

    @Test func `the sequence begins with the current namespaces and ends the watch at its end`() async throws {
        let blue = try await directory.add("blue")
        var iterator = namespaces.changes.makeAsyncIterator()
        #expect(await iterator.next(isolation: nil)?.map(\.name) == ["blue"])
        blue.remove()
        #expect(await iterator.next(isolation: nil)?.map(\.name) == [])
        let task = Task { [namespaces] in
            for await _ in namespaces.changes {}
        }
        task.cancel()
        await task.value
    }

    @Test func `a cancelled listener is not called, another one continues without the object`() async throws {
        let directory = directory
        var namespaces: NetworkNamespaces? = NetworkNamespaces(directory: directory.path, clock: clock)
        let (first, second) = (NamespaceNames(namespaces!), NamespaceNames(namespaces!))
        #expect(try await first.areLast([]))
        #expect(try await second.areLast([]))
        namespaces = nil
        first.cancel()
        let blue = try await directory.add("blue")
        #expect(try await second.areLast(["blue"]))
        #expect(first.values == [[]])
        blue.remove()
    }
}

/// A separate directory of namespace names.
final class NamespaceDirectory: Sendable {
    private let parent: String
    var path: String { "\(parent)/netns" }

    /// Creates the parent directory.
    ///
    /// - Parameter exists: True to also create the directory.
    init(exists: Bool = true) throws {
        var template = Array("/tmp/namespaces-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw LabError.system("mkdtemp") }
        parent = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        if exists { make() }
    }

    deinit {
        remove()
        rmdir(parent)
    }

    func make() { mkdir(path, 0o755) }
    func remove() { rmdir(path) }

    func touch(_ name: String) { close(open("\(path)/\(name)", O_CREAT | O_CLOEXEC, 0o444)) }
    func unlink(_ name: String) { _ = Glibc.unlink("\(path)/\(name)") }

    /// Creates a name for a new namespace.
    func add(_ name: String) async throws -> NamespaceName {
        try await LabThread.detached { try NamespaceName(name, in: self.path, for: LabNamespace()) }
    }
}

/// Records the names of a set of namespaces each time its listener is called.
final class NamespaceNames: Sendable {
    private let recorder = RecordingListener<[String]>()
    private let token: NetworkReachabilityToken

    init(_ namespaces: NetworkNamespaces) {
        token = namespaces.addListener(onQueue: DispatchQueue(label: "names")) { [recorder] entries in
            recorder.record(entries.map(\.name))
        }
    }

    var values: [[String]] { recorder.values }

    /// Waits until these names are the last received ones. Returns true if they are.
    func areLast(_ names: [String]) async throws -> Bool {
        try await eventually(every: .milliseconds(2)) { recorder.last == names }
    }

    func cancel() { token.cancel() }
}
