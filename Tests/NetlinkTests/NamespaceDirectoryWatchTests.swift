import Glibc
import LinuxSupport
import Netlink
import Testing

@Suite("Watching a directory of namespaces")
struct NamespaceDirectoryWatchTests {
    @Test("Lost events are a reason to look, even where only one name matters")
    func overflow() throws {
        var template = Array("/dev/shm/directory-watch-XXXXXX".utf8CString)
        #expect(mkdtemp(&template) != nil)
        let parent = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { rmdir(parent) }
        let limit = try #require(
            TextFile.read("/proc/sys/fs/inotify/max_queued_events").flatMap { Int($0.dropLast()) }
        )
        let watch = try NamespaceDirectoryWatch(directory: "\(parent)/netns")
        #expect(watch.renew())
        mkdir("\(parent)/other", 0o755)
        rmdir("\(parent)/other")
        #expect(!watch.drain())
        for _ in 0...limit / 2 {
            mkdir("\(parent)/other", 0o755)
            rmdir("\(parent)/other")
        }
        #expect(watch.drain())
        #expect(watch.renew())
        #expect(!watch.drain())
        mkdir("\(parent)/netns", 0o755)
        #expect(watch.drain())
        rmdir("\(parent)/netns")
    }

    @Test("Waiting ends when it is interrupted")
    func interruption() throws {
        let watch = try NamespaceDirectoryWatch(directory: "/nowhere/netns")
        watch.interrupt()
        while try watch.wait() {}
        #expect(!watch.drain())
    }
}
